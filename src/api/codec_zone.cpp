#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_zone.h"

HOSTLER_JSON(hostler::api::Zone)
HOSTLER_JSON(hostler::api::CreateZone)
HOSTLER_JSON(hostler::api::UpdateZone)
HOSTLER_JSON(hostler::api::NameZone)
HOSTLER_JSON(hostler::api::AccessPoint)
HOSTLER_JSON(hostler::api::ListAccessPoints)
HOSTLER_JSON(hostler::api::GetAccessPoint)
HOSTLER_JSON(hostler::api::DrainAccessPoint)
HOSTLER_JSON(hostler::api::HostToken)
HOSTLER_JSON(hostler::api::CreateHostToken)
HOSTLER_JSON(hostler::api::CreatedHostToken)
HOSTLER_JSON(hostler::api::NameHostToken)
HOSTLER_JSON(hostler::api::List<hostler::api::Zone>)
HOSTLER_JSON(hostler::api::List<hostler::api::AccessPoint>)
HOSTLER_JSON(hostler::api::List<hostler::api::HostToken>)

namespace hostler::api {

ApiArea zone_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_zones,
        &create_zone,
        &get_zone,
        &update_zone,
        &delete_zone,
        &list_access_points,
        &get_access_point,
        &drain_access_point,
        &undrain_access_point,
        &create_host_token,
        &list_host_tokens,
        &delete_host_token,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"zone", "Sites where hosts stand."},
        {"access", "Entry points of zones, for hosts and tunnels."},
        {"host token", "One-time tokens with which hosts join."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

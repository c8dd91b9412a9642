#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_fleet.h"

HOSTLER_JSON(hostler::api::FleetColumn)
HOSTLER_JSON(hostler::api::Fleet)
HOSTLER_JSON(hostler::api::GetFleet)

namespace hostler::api {

ApiArea fleet_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &get_fleet,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"fleet", "All hosts and GPUs, in columns."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_network.h"

HOSTLER_JSON(hostler::api::Network)
HOSTLER_JSON(hostler::api::ListNetworks)
HOSTLER_JSON(hostler::api::GetNetwork)
HOSTLER_JSON(hostler::api::RenameNetwork)
HOSTLER_JSON(hostler::api::List<hostler::api::Network>)

namespace hostler::api {

ApiArea network_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_networks,
        &get_network,
        &rename_network,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"network", "Networks that instances are in."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

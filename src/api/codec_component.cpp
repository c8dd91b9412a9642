#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_component.h"

HOSTLER_JSON(hostler::api::Component)
HOSTLER_JSON(hostler::api::List<hostler::api::Component>)

namespace hostler::api {

ApiArea component_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_components,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"component", "Parts of the cloud: masters, gateways, store and others."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

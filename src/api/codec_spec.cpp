#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_spec.h"

HOSTLER_JSON(hostler::api::Spec)
HOSTLER_JSON(hostler::api::CreateSpec)
HOSTLER_JSON(hostler::api::UpdateSpec)
HOSTLER_JSON(hostler::api::GetSpec)
HOSTLER_JSON(hostler::api::List<hostler::api::Spec>)

namespace hostler::api {

ApiArea spec_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_specs,
        &get_spec,
        &create_spec,
        &update_spec,
        &delete_spec,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"spec", "Shapes of instances."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

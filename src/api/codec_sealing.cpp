#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_sealing.h"

HOSTLER_JSON(hostler::api::SealingKey)
HOSTLER_JSON(hostler::api::SealingKeys)
HOSTLER_JSON(hostler::api::RotateSealingKey)
HOSTLER_JSON(hostler::api::NameSealingKey)

namespace hostler::api {

ApiArea sealing_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &get_sealing_keys,
        &rotate_sealing_key,
        &forget_sealing_key,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"seal", "Keys that seal what is secret in the store."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

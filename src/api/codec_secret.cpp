#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_secret.h"

HOSTLER_JSON(hostler::api::SecretValue)
HOSTLER_JSON(hostler::api::SecretKey)
HOSTLER_JSON(hostler::api::Secret)
HOSTLER_JSON(hostler::api::CreateSecret)
HOSTLER_JSON(hostler::api::UpdateSecret)
HOSTLER_JSON(hostler::api::ListSecrets)
HOSTLER_JSON(hostler::api::NameSecret)
HOSTLER_JSON(hostler::api::List<hostler::api::Secret>)

namespace hostler::api {

ApiArea secret_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_secret,
        &list_secrets,
        &get_secret,
        &update_secret,
        &delete_secret,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"secret", "Tokens, passwords and registry logins for instances."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

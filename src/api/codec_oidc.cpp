#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_oidc.h"

HOSTLER_JSON(hostler::api::GroupRole)
HOSTLER_JSON(hostler::api::IdentityProvider)
HOSTLER_JSON(hostler::api::CreateIdentityProvider)
HOSTLER_JSON(hostler::api::ListIdentityProviders)
HOSTLER_JSON(hostler::api::NameIdentityProvider)
HOSTLER_JSON(hostler::api::UpdateIdentityProvider)
HOSTLER_JSON(hostler::api::TestedIdentityProvider)
HOSTLER_JSON(hostler::api::List<hostler::api::IdentityProvider>)

namespace hostler::api {

ApiArea oidc_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_identity_provider,
        &list_identity_providers,
        &get_identity_provider,
        &update_identity_provider,
        &delete_identity_provider,
        &test_identity_provider,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"idp", "Identity providers (OpenID Connect), by which people sign in."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

#include "roles/master/state/feature.h"

namespace hostler::master {

void add_identity_providers(Api& service);

static constexpr ApiPart oidc_api[] = {add_identity_providers};
extern const Feature oidc_feature{
    .name = "oidc",
    .api = oidc_api,
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"

namespace hostler::master {

void add_secrets(Api& service);

static constexpr ApiPart secret_api[] = {add_secrets};
extern const Feature secret_feature{
    .name = "secret",
    .api = secret_api,
};

}  // namespace hostler::master

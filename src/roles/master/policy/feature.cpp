#include "roles/master/state/feature.h"

namespace hostler::master {

void add_policies(Api& service);

static constexpr ApiPart policy_api[] = {add_policies};
extern const Feature policy_feature{
    .name = "policy",
    .api = policy_api,
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"
#include "roles/master/leader/term.h"
#include "roles/master/role/grants.h"

namespace hostler::master {

void add_roles(Api& service);
void add_grants(Api& service);
void add_groups(Api& service);

static constexpr ApiPart role_api[] = {add_roles, add_grants, add_groups};
extern const Feature role_feature{
    .name = "role",
    .api = role_api,
    .sweep = [](Term&, Desk& desk) { forget_ended_grants(desk); },
};

}  // namespace hostler::master

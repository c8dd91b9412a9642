#include "roles/master/state/feature.h"

namespace hostler::master {

void add_users(Api& service);
void add_invitations(Api& service);

static constexpr ApiPart user_api[] = {add_users, add_invitations};
extern const Feature user_feature{
    .name = "user",
    .api = user_api,
};

}  // namespace hostler::master

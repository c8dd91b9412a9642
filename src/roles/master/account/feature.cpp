#include "roles/master/state/feature.h"

namespace hostler::master {

void add_accounts(Api& service);
void add_account_keys(Api& service);

static constexpr ApiPart account_api[] = {add_accounts, add_account_keys};
extern const Feature account_feature{
    .name = "account",
    .api = account_api,
};

}  // namespace hostler::master

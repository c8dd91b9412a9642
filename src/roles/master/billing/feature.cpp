#include "roles/master/state/feature.h"

namespace hostler::master {

void add_prices(Api& service);

static constexpr ApiPart billing_api[] = {add_prices};
extern const Feature billing_feature{
    .name = "billing",
    .api = billing_api,
};

}  // namespace hostler::master

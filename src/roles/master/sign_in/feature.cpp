#include "roles/master/state/feature.h"

namespace hostler::master {

void add_sign_in(Api& service);
void add_passwords(Api& service);
void add_second_factors(Api& service);
void add_devices(Api& service);

static constexpr ApiPart sign_in_api[] = {add_sign_in, add_passwords, add_second_factors, add_devices};
extern const Feature sign_in_feature{
    .name = "sign_in",
    .api = sign_in_api,
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"

namespace hostler::master {

void add_tenants(Api& service);

static constexpr ApiPart tenant_api[] = {add_tenants};
extern const Feature tenant_feature{
    .name = "tenant",
    .api = tenant_api,
};

}  // namespace hostler::master

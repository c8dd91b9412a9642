#include "roles/master/state/feature.h"

namespace hostler::master {

void add_quotas(Api& service);

static constexpr ApiPart quota_api[] = {add_quotas};
extern const Feature quota_feature{
    .name = "quota",
    .api = quota_api,
};

}  // namespace hostler::master

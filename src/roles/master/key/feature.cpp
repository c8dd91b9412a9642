#include "roles/master/state/feature.h"

namespace hostler::master {

void add_keys(Api& service);

static constexpr ApiPart key_api[] = {add_keys};
extern const Feature key_feature{
    .name = "key",
    .api = key_api,
};

}  // namespace hostler::master

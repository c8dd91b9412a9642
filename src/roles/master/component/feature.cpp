#include "roles/master/state/feature.h"

namespace hostler::master {

void add_components(Api& service);

static constexpr ApiPart component_api[] = {add_components};
extern const Feature component_feature{
    .name = "component",
    .api = component_api,
};

}  // namespace hostler::master

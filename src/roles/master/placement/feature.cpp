#include "roles/master/state/feature.h"

namespace hostler::master {

void add_placements(Api& service);

static constexpr ApiPart placement_api[] = {add_placements};
extern const Feature placement_feature{
    .name = "placement",
    .api = placement_api,
};

}  // namespace hostler::master

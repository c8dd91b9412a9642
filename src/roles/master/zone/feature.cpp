#include "roles/master/state/feature.h"
#include "roles/master/zone/telling.h"

namespace hostler::master {

void add_zones(Api& service);

static constexpr ApiPart zone_api[] = {add_zones};
extern const Feature zone_feature{
    .name = "zone",
    .api = zone_api,
    .tell =
        [](Term& term) {
            tell_access(term);
            tell_drains(term);
        },
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"

#include "roles/master/fleet/fleet_map.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

void add_fleet(Api& service);

static constexpr ApiPart fleet_api[] = {add_fleet};
extern const Feature fleet_feature{
    .name = "fleet",
    .api = fleet_api,
    .sweep = [](Term&, Desk& desk) { desk.live.part<FleetMap>().follow(desk, FleetMap::sweep_max); },
    .host_sampled = [](Desk& desk,
                       const std::string& host) { desk.live.part<FleetMap>().sampled(desk, host); },
};

}  // namespace hostler::master

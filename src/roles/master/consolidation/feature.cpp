#include "roles/master/state/feature.h"
#include "roles/master/consolidation/execution.h"

namespace hostler::master {

void add_consolidations(Api& service);

static constexpr ApiPart consolidation_api[] = {add_consolidations};
extern const Feature consolidation_feature{
    .name = "consolidation",
    .api = consolidation_api,
    .sweep = [](Term&, Desk& desk) { follow_consolidations(desk); },
    .host_gone = forget_reservations,
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

void add_hosts(Api& service);

static constexpr ApiPart host_api[] = {add_hosts};
extern const Feature host_feature{
    .name = "host",
    .api = host_api,
    .sweep = [](Term& term, Desk& desk) { watch_silence(desk, term.ports().timers.now()); },
};

}  // namespace hostler::master

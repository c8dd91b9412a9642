#include "roles/master/state/feature.h"
#include "roles/master/command/commands.h"
#include "roles/master/network/subnets.h"

namespace hostler::master {

static constexpr VerbRow network_verbs[] = {
    {Verb::remove_network, note_subnet},
};
extern const Feature network_feature{
    .name = "network",
    .verbs = network_verbs,
    .sweep = [](Term&, Desk& desk) { reconcile_subnets(desk); },
    .host_gone =
        [](Desk& desk, const std::string& host) {
            std::vector<std::string> subnets;
            for (const Subnet* subnet : desk.estate.subnets.by().host.of(host)) subnets.push_back(subnet->id);
            for (const std::string& subnet : subnets) desk.estate.subnets.erase(subnet);
        },
};

}  // namespace hostler::master

#include "roles/master/network/view.h"

#include "api/types_network.h"
#include "roles/master/state/views.h"

namespace hostler::master {

api::Network view(const Desk& desk, const Network& network) {
    api::Network shown{.id = network.id,
                       .name = network.name,
                       .tenant_id = network.tenant,
                       .project = network.project,
                       .subnets = {},
                       .created_at = wall(network.created_at)};
    for (const Subnet* subnet : desk.estate.subnets.by().network.of(network.id)) {
        api::Subnet part{.host = subnet->host, .cidr = desk.pool.subnet(subnet->index)};
        for (const Instance* instance : desk.estate.instances.by().subnet.of(subnet->id))
            if (instance->subnet == subnet->id) ++part.addresses_used;
        shown.subnets.push_back(std::move(part));
    }
    return shown;
}

}  // namespace hostler::master

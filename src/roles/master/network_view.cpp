#include "roles/master/network_view.h"

#include "roles/master/views.h"

namespace hostler::master {

api::Network view(const Desk& desk, const Network& network) {
    api::Network shown{.id = network.id,
                       .name = network.name,
                       .tenant_id = network.tenant,
                       .subnets = {},
                       .created_at = wall(network.created_at)};
    for (const auto& [id, subnet] : desk.estate.subnets.all()) {
        if (subnet.network != network.id) continue;
        api::Subnet part{.host = subnet.host, .cidr = desk.pool.subnet(subnet.index)};
        for (const auto& [instance_id, instance] : desk.estate.instances.all())
            if (instance.subnet == id) ++part.addresses_used;
        shown.subnets.push_back(std::move(part));
    }
    return shown;
}

}  // namespace hostler::master

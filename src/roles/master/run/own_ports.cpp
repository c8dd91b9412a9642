#include "roles/master/run/own_ports.h"

#include <algorithm>
#include <set>

namespace hostler::master {

namespace {

enum class PortsOfEnded { left_alone, used };

// The lowest that no instance has and that is not one of these; 0: none.
int free_port(const Desk& desk, const std::set<int>& taken, PortsOfEnded of_ended) {
    const auto& by = desk.estate.instances.by();
    auto port = static_cast<std::uint64_t>(desk.settings.own_port_min);
    while (port <= static_cast<std::uint64_t>(desk.settings.own_port_max)) {
        const std::uint64_t before = port;
        port = by.port.lowest_free(static_cast<std::uint32_t>(port));
        if (of_ended == PortsOfEnded::left_alone)
            port = by.ended_port.lowest_free(static_cast<std::uint32_t>(port));
        if (taken.contains(static_cast<int>(port))) ++port;
        if (port == before) return static_cast<int>(port);
    }
    return 0;
}

}  // namespace

Result<> give_own_ports(const Desk& desk, std::vector<InstancePort>& ports) {
    const bool wanted = std::ranges::any_of(desk.estate.gateways.all(),
                                            [](const auto& row) { return row.second.domain.empty(); });
    if (!wanted) return {};
    // Ports of what has ended are left alone while there are others: its page says that it has.
    std::set<int> taken;
    for (InstancePort& port : ports) {
        if (const int free = free_port(desk, taken, PortsOfEnded::left_alone); free != 0)
            port.own_port = free;
        else if (port.own_port == 0)
            port.own_port = free_port(desk, taken, PortsOfEnded::used);
        if (port.own_port == 0)
            return fail(Code::conflict, "all gateway ports for instances are in use", "no_gateway_port");
        taken.insert(port.own_port);
    }
    return {};
}

Result<> keep_own_ports(const Desk& desk, const std::string& id, std::vector<InstancePort>& ports) {
    for (InstancePort& port : ports)
        if (std::ranges::any_of(desk.estate.instances.by().port.of(static_cast<std::uint32_t>(port.own_port)),
                                [&](const Instance* other) { return other->id != id; }))
            port.own_port = 0;
    std::vector<InstancePort> given = ports;
    TRY(give_own_ports(desk, given));
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].own_port == 0) ports[i].own_port = given[i].own_port;
    return {};
}

}  // namespace hostler::master

// For tests: whether the index beside the estate is what would be built of the estate anew.
#pragma once

#include <fmt/format.h>

#include "roles/master/capacity.h"

namespace hostler::master::testing {

// What is wrong with it; empty: nothing.
inline std::string room_is_wrong(const Desk& desk) {
    Room& now = room(desk);
    Room anew;
    anew.build(desk, now.learned());
    if (now.hosts().size() != anew.hosts().size())
        return fmt::format("{} hosts are known, {} are there", now.hosts().size(), anew.hosts().size());
    for (const auto& [id, there] : anew.hosts()) {
        const auto known = now.hosts().find(id);
        if (known == now.hosts().end()) return fmt::format("host {} is not known", id);
        if (known->second.free != there.free)
            return fmt::format(
                "on host {} {} GPUs and {} thousandths of CPUs are taken for free, it is {} and {}", id,
                known->second.free.gpus.size(), known->second.free.cpu_milli, there.free.gpus.size(),
                there.free.cpu_milli);
        if (known->second.claims != there.claims) return fmt::format("other claims are on host {}", id);
    }
    if (now.order() != anew.order()) return "the hosts' order, or what the fleet has there, is another";
    std::vector<std::string> zones{""};
    for (const auto& [name, zone] : desk.estate.zones.all()) zones.push_back(name);
    for (const auto& [name, spec] : desk.estate.specs.all())
        for (const std::string& zone : zones) {
            const Demand demand = demand_of(spec, zone);
            const auto here = now.place(desk, demand).placement, there = anew.place(desk, demand).placement;
            const auto text = [](const auto& at) {
                return at ? fmt::format("{} with {}", at->host, fmt::join(at->gpus, " ")) : "nowhere";
            };
            if (text(here) != text(there))
                return fmt::format("{} in zone '{}' goes to {}, built anew to {}", name, zone, text(here),
                                   text(there));
            // Nowhere only where no host fits, looked at one by one.
            const auto& hosts = anew.hosts();
            const bool any =
                std::ranges::any_of(hosts, [&](const auto& row) { return !unfit(demand, row.second.free); });
            if (any != here.has_value()) return fmt::format("{} in zone '{}' fits: {}", name, zone, any);
            if (here && unfit(demand, hosts.at(here->host).free))
                return fmt::format("{} goes to {}, which has no room", name, here->host);
        }
    return {};
}

}  // namespace hostler::master::testing

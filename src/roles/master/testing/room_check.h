// For tests: whether the index beside the estate is what would be built of the estate anew.
#pragma once

#include <fmt/format.h>

#include <set>

#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/traits.h"

namespace hostler::master::testing {

// Whether the host with its GPUs of this model is as the demand wishes, looked at one by one: its terms, and
// who of its group is near. But for `except`, a claim. (How GPUs are linked is for the scheduler's own
// tests.)
inline bool will_do(const Desk& desk, const Demand& demand, const std::string& id, const std::string& model,
                    const std::string& except = {}) {
    const Host& host = desk.estate.hosts.at(id);
    if (!admits(demand.wishes.terms, traits_of(desk, host, model))) return false;
    const Area apart = demand.wishes.apart;
    if (demand.kind.empty() || apart == Area::none) return true;
    return std::ranges::none_of(desk.estate.claims.all(), [&](const auto& row) {
        const Claim& claim = row.second;
        if (claim.use != ClaimUse::instance || claim.group.empty() || claim.id == except) return false;
        if (group_key(claim.tenant, claim.group) != demand.kind) return false;
        const Host& other = desk.estate.hosts.at(claim.host);
        return claim.host == id || (apart == Area::zone && other.zone == host.zone) ||
               (apart == Area::rack && !host.rack.empty() && other.rack == host.rack);
    });
}

// Whether what is held by this claim is all of one model that will do.
inline bool does(const Desk& desk, const Demand& demand, const Claim& held) {
    const Host& host = desk.estate.hosts.at(held.host);
    std::set<std::string> models;
    for (const GpuFacts& gpu : host.facts.gpus)
        if (std::ranges::count(held.gpus, gpu.uuid) > 0) models.insert(gpu.model);
    if (models.size() > 1) return false;
    if (models.empty())
        for (const std::string& model : models_of(host)) models.insert(model);
    return std::ranges::any_of(
        models, [&](const std::string& model) { return will_do(desk, demand, held.host, model, held.id); });
}

// Models of which the host has room for the demand.
inline std::vector<std::string> fitting(const Desk& desk, const Demand& demand, const Candidate& free) {
    std::vector<std::string> found;
    for (const std::string& model : models_of(desk.estate.hosts.at(free.id))) {
        Candidate left = free;
        std::erase_if(left.gpus, [&](const FreeGpu& gpu) { return gpu.model != model; });
        if (!unfit(demand, left) && will_do(desk, demand, free.id, model)) found.push_back(model);
    }
    return found;
}

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
        if (known->second.groups != there.groups) return fmt::format("other groups are on host {}", id);
        if (known->second.claims != there.claims) return fmt::format("other claims are on host {}", id);
    }
    if (now.order() != anew.order()) return "the hosts' order, or what the fleet has there, is another";
    std::vector<std::string> zones{""};
    for (const auto& [name, zone] : desk.estate.zones.all()) zones.push_back(name);
    std::vector<std::pair<std::string, Demand>> demands;
    for (const auto& [name, spec] : desk.estate.specs.all())
        for (const std::string& zone : zones)
            demands.emplace_back(fmt::format("{} in zone '{}'", name, zone), demand_of(spec, zone));
    for (const auto& [id, instance] : desk.estate.instances.all())
        if (const Spec* spec = desk.estate.specs.find(instance.spec_name); spec && instance.spec.placement)
            demands.emplace_back(fmt::format("one more like {}", id), demand_of(desk, *spec, instance));
    for (const auto& [name, demand] : demands) {
        const auto here = now.place(desk, demand).placement, there = anew.place(desk, demand).placement;
        const auto text = [](const auto& at) {
            return at ? fmt::format("{} with {}", at->host, fmt::join(at->gpus, " ")) : "nowhere";
        };
        if (text(here) != text(there))
            return fmt::format("{} goes to {}, built anew to {}", name, text(here), text(there));
        // Nowhere only where no host fits, looked at one by one.
        const auto& hosts = anew.hosts();
        const bool any = std::ranges::any_of(
            hosts, [&](const auto& row) { return !fitting(desk, demand, row.second.free).empty(); });
        if (any != here.has_value()) return fmt::format("{} fits: {}", name, any);
        if (!here) continue;
        const Candidate& free = hosts.at(here->host).free;
        const auto models = fitting(desk, demand, free);
        for (const FreeGpu& gpu : free.gpus)
            if (std::ranges::count(here->gpus, gpu.uuid) > 0 && std::ranges::count(models, gpu.model) == 0)
                return fmt::format("{} gets a {} on {}, which will not do", name, gpu.model, here->host);
        if (models.empty()) return fmt::format("{} goes to {}, which will not do", name, here->host);
    }
    return {};
}

}  // namespace hostler::master::testing

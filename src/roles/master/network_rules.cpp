#include "roles/master/network_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::master {

namespace {

// One that was stopped a moment ago: whoever starts it again soon finds it at its address.
bool may_come_back_to(const Desk& desk, const Instance& instance, const Subnet& subnet) {
    constexpr std::int64_t held_us = 120'000'000;
    if (instance.phase != InstancePhase::resting || instance.host != subnet.host ||
        instance.tenant != subnet.tenant || instance.ended_at + held_us <= desk.estate.micros())
        return false;
    const auto place = desk.pool.place_of(instance.address);
    return place && place->index == subnet.index;
}

bool in_use(const Desk& desk, const std::string& subnet) {
    const Subnet* known = desk.estate.subnets.find(subnet);
    for (const auto& [id, instance] : desk.estate.instances.all())
        if (instance.subnet == subnet || std::ranges::count(instance.left, subnet, &LeftPlace::subnet) > 0 ||
            (known && may_come_back_to(desk, instance, *known)))
            return true;
    for (const auto& [id, claim] : desk.estate.claims.all())
        if (claim.use == ClaimUse::foreign && claim.subnet == subnet) return true;
    return false;
}

const Network& network_of(Desk& desk, const std::string& tenant) {
    for (const auto& [id, network] : desk.estate.networks.all())
        if (network.tenant == tenant) return network;
    const Network& made = desk.estate.networks.add(
        {.id = new_id(desk.random, "n"), .tenant = tenant, .created_at = desk.estate.micros()});
    desk.estate.event("network", made.id, tenant, "created", fmt::format("Network {} was created.", made.id));
    return made;
}

}  // namespace

Result<const Subnet*> subnet_for(Desk& desk, const std::string& tenant, const std::string& host,
                                 std::optional<std::uint32_t> before) {
    std::set<std::uint32_t> taken;
    for (const auto& [id, subnet] : desk.estate.subnets.all()) {
        if (subnet.tenant == tenant && subnet.host == host && !subnet.leaving && !subnet.unusable)
            return &subnet;
        taken.insert(subnet.index);
    }
    auto index = before && !taken.contains(*before) ? *before : desk.pool.pick(taken);
    if (!index) return fail(Code::conflict, index.error().message, "no_subnet");
    return &desk.estate.subnets.add({.id = new_id(desk.random, "sn", 8),
                                     .network = network_of(desk, tenant).id,
                                     .tenant = tenant,
                                     .host = host,
                                     .index = *index});
}

Result<> rename_network(Desk& desk, const std::string& id, const std::string& name) {
    const Network& now = desk.estate.networks.at(id);
    if (now.name == name) return {};
    for (const auto& [other, network] : desk.estate.networks.all())
        if (network.tenant == now.tenant && network.name == name)
            return fail(Code::conflict, fmt::format("network {} has the name {}", other, name), "name_taken");
    const std::string before = now.name;
    desk.estate.networks.edit(id).name = name;
    desk.estate.event("network", id, now.tenant, "renamed",
                      fmt::format("Network {} is called {} now, and was {}.", id, name, before));
    return {};
}

void hold_subnet(Desk& desk, const Claim& claim, std::uint32_t index) {
    if (claim.subnet.empty() || claim.tenant.empty() || desk.estate.subnets.find(claim.subnet)) return;
    constexpr int held_max = 64;  // Of one host: a hostile one is not given them all.
    int held = 0;
    for (const auto& [id, subnet] : desk.estate.subnets.all()) {
        if (subnet.index == index) return;
        if (subnet.foreign && subnet.host == claim.host && ++held == held_max) return;
    }
    desk.estate.subnets.add({.id = claim.subnet,
                             .network = network_of(desk, claim.tenant).id,
                             .tenant = claim.tenant,
                             .host = claim.host,
                             .index = index,
                             .unusable = true,
                             .foreign = true});
}

// One that is on its way out is not used again: whoever comes next gets another, so the removal needs no
// haste.
void leave_subnet(Desk& desk, const std::string& id) {
    const Subnet* subnet = desk.estate.subnets.find(id);
    if (!subnet || subnet->leaving || subnet->unusable || in_use(desk, id)) return;
    const Host* host = desk.estate.hosts.find(subnet->host);
    if (!host || host->phase == HostPhase::retired) return desk.estate.subnets.erase(id);
    desk.estate.subnets.edit(id).leaving = true;
    command(desk, subnet->host, Verb::remove_network, id, subnet->meta.generation);
}

void note_subnet(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    if (answer.done && desk.estate.subnets.find(command.subject)) desk.estate.subnets.erase(command.subject);
}

void reconcile_subnets(Desk& desk) {
    std::vector<std::string> ids;
    for (const auto& [id, subnet] : desk.estate.subnets.all()) ids.push_back(id);
    for (const std::string& id : ids) {
        const Subnet& subnet = desk.estate.subnets.at(id);
        if (subnet.foreign && !in_use(desk, id)) {
            Subnet& left = desk.estate.subnets.edit(id);
            left.foreign = left.unusable = false;
        }
        if (subnet.unusable) continue;
        if (!subnet.leaving)
            leave_subnet(desk, id);
        else if (!commanded(desk, id) && !resting(desk, id))
            command(desk, subnet.host, Verb::remove_network, id, subnet.meta.generation);
    }
}

}  // namespace hostler::master

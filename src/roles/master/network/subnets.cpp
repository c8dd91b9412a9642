#include "roles/master/network/subnets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace hostler::master {

namespace {

// One that was stopped a moment ago: whoever starts it again soon finds it at its address.
bool may_come_back_to(const Desk& desk, const Instance& instance, const Subnet& subnet) {
    constexpr std::int64_t held_us = 120'000'000;
    if (instance.phase != InstancePhase::resting || instance.host != subnet.host ||
        instance.tenant != subnet.tenant || instance.project != subnet.project ||
        instance.ended_at + held_us <= desk.estate.micros())
        return false;
    const auto place = desk.pool.place_of(instance.address);
    return place && place->index == subnet.index;
}

// For whoever may come back to it.
bool is_kept(const Desk& desk, const Subnet& subnet) {
    return std::ranges::any_of(
        desk.estate.instances.by().resting.of({subnet.tenant, subnet.host}),
        [&](const Instance* instance) { return may_come_back_to(desk, *instance, subnet); });
}

bool in_use(const Desk& desk, const std::string& subnet) {
    const Subnet* known = desk.estate.subnets.find(subnet);
    return desk.estate.instances.by().subnet.has(subnet) ||
           desk.estate.claims.by().foreign_subnet.has(subnet) || (known && is_kept(desk, *known));
}

bool has_network_named(const Desk& desk, const std::string& tenant, const std::string& name) {
    return std::ranges::any_of(desk.estate.networks.by().tenant.of(tenant),
                               [&](const Network* network) { return network->name == name; });
}

// It is named as its project, unless another network of the tenant was given that name.
const Network& network_of(Desk& desk, const std::string& tenant, const std::string& project) {
    if (const Network* known = desk.estate.networks.by().project.first({tenant, project})) return *known;
    const std::string id = new_id(desk.random, "n");
    const Network& made =
        desk.estate.networks.add({.id = id,
                                  .name = has_network_named(desk, tenant, project) ? id : project,
                                  .tenant = tenant,
                                  .project = project,
                                  .created_at = desk.estate.micros()});
    desk.estate.event("network", made.id, tenant, "created", fmt::format("Network {} was created.", made.id));
    return made;
}

}  // namespace

Result<const Subnet*> subnet_for(Desk& desk, const OfProject& place, std::optional<std::uint32_t> before) {
    const auto& [tenant, project, host] = place;
    const auto& by = desk.estate.subnets.by();
    for (const Subnet* subnet : by.place.of(place))
        if (!subnet->leaving && !subnet->unusable) return subnet;
    auto index = before && !by.number.has(*before) ? *before : desk.pool.pick(by.number.lowest_free(0));
    if (!index) return fail(Code::conflict, index.error().message, "no_subnet");
    return &desk.estate.subnets.add({.id = new_id(desk.random, "sn", 8),
                                     .network = network_of(desk, tenant, project).id,
                                     .tenant = tenant,
                                     .project = project,
                                     .host = host,
                                     .index = *index});
}

Result<> rename_network(Desk& desk, const std::string& id, const std::string& name) {
    const Network& now = desk.estate.networks.at(id);
    if (now.name == name) return {};
    for (const Network* network : desk.estate.networks.by().tenant.of(now.tenant))
        if (network->name == name)
            return fail(Code::conflict, fmt::format("network {} has the name {}", network->id, name),
                        "name_taken");
    const std::string before = now.name;
    desk.estate.networks.edit(id).name = name;
    desk.estate.event("network", id, now.tenant, "renamed",
                      fmt::format("Network {} is called {} now, and was {}.", id, name, before));
    return {};
}

void hold_subnet(Desk& desk, const Claim& claim, std::uint32_t index) {
    if (claim.subnet.empty() || claim.tenant.empty() || desk.estate.subnets.find(claim.subnet)) return;
    constexpr int held_max = 64;  // Of one host: a hostile one is not given them all.
    const auto& by = desk.estate.subnets.by();
    if (by.number.has(index) || std::ranges::count_if(by.host.of(claim.host), [](const Subnet* subnet) {
                                    return subnet->foreign;
                                }) >= held_max)
        return;
    desk.estate.subnets.add({.id = claim.subnet,
                             .network = network_of(desk, claim.tenant, claim.project).id,
                             .tenant = claim.tenant,
                             .project = claim.project,
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

namespace {

struct SubnetLooks {
    static constexpr bool follows_estate = true;
    Follower<Subnet> changed;
    std::set<std::string> kept;  // For one that was stopped a moment ago, or may be soon.
};

}  // namespace

// Whatever changed about them or about who stands in them, and those that wait.
static std::set<std::string> subnets_to_look_at(Desk& desk) {
    auto& looks = desk.live.part<SubnetLooks>();
    std::set<std::string> ids = looks.changed.changed(desk.estate.subnets);
    ids.merge(desk.estate.instances.by().subnet.take_touched());
    ids.merge(desk.estate.claims.by().foreign_subnet.take_touched());
    const auto& waiting = desk.estate.subnets.by().work;
    for (const SubnetWork work : {SubnetWork::remove, SubnetWork::see_if_still_foreign})
        for (const Subnet* subnet : waiting.of(work)) ids.insert(subnet->id);
    ids.insert(looks.kept.begin(), looks.kept.end());
    return ids;
}

void reconcile_subnets(Desk& desk) {
    auto& kept = desk.live.part<SubnetLooks>().kept;
    for (const std::string& id : subnets_to_look_at(desk)) {
        kept.erase(id);
        if (!desk.estate.subnets.find(id)) continue;
        const Subnet& subnet = desk.estate.subnets.at(id);
        if (subnet.foreign && !in_use(desk, id)) {
            Subnet& left = desk.estate.subnets.edit(id);
            left.foreign = left.unusable = false;
        }
        if (subnet.unusable) continue;
        if (!subnet.leaving && is_kept(desk, subnet)) kept.insert(id);  // Until that is over.
        if (!subnet.leaving)
            leave_subnet(desk, id);
        else if (!commanded(desk, id) && !resting(desk, id))
            command(desk, subnet.host, Verb::remove_network, id, subnet.meta.generation);
    }
}

}  // namespace hostler::master

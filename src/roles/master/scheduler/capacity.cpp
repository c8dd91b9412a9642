#include "roles/master/scheduler/capacity.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/health/health.h"
#include "roles/master/policy/policies.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

bool usable(const Host& host, const std::string& gpu) {
    const auto state = host.gpu_states.find(gpu);
    return state == host.gpu_states.end() || is_fit(state->second.health);
}

bool fit(const Desk& desk, const Claim& claim) {
    const Host* host = desk.estate.hosts.find(claim.host);
    return host &&
           std::ranges::all_of(claim.gpus, [&](const std::string& gpu) { return usable(*host, gpu); });
}

std::string unavailable(const Host& host) {
    if (!host.quarantined.empty() && host.phase != HostPhase::retired) return "is quarantined";
    switch (host.phase) {
        case HostPhase::joining: return "has not reported yet";
        case HostPhase::unreachable: return "is unreachable";
        case HostPhase::lost: return "is lost";
        case HostPhase::retired: return "is removed";
        case HostPhase::ready: break;
    }
    if (host.cordoned) return "is cordoned";
    if (const std::string why = needs_reboot(host); !why.empty())
        return fmt::format("is faulty and has to be rebooted: {}", why);
    if (!host.engine_error.empty())
        return fmt::format("has no working container engine: {}", host.engine_error);
    if (host.admission.state != Admission::admitted)
        return fmt::format("has not passed its admission test: {}",
                           host.admission.reasons.empty() ? "" : host.admission.reasons.front());
    return {};
}

// Where that is required.
static bool has_no_disk_limit(const Desk& desk, const Host& host) {
    return desk.settings.require_disk_limit && !host.facts.limits_disk;
}

std::string unavailable(const Desk& desk, const Host& host) {
    std::string why = unavailable(host);
    if (why.empty() && awaits_word(desk, host.id)) why = "has not said what runs there since the restore";
    if (why.empty() && desk.estate.drains.find(host.id)) why = "is draining";
    if (why.empty() && is_emptied(desk, host.id)) why = "is being emptied";
    if (why.empty() && desk.estate.claims.by().node_host.has(host.id)) why = "is a node of a cluster";
    if (why.empty() && has_no_disk_limit(desk, host))
        why = fmt::format("does not limit what containers write: {}", host.facts.disk_unlimited.empty()
                                                                          ? "its agent is too old"
                                                                          : host.facts.disk_unlimited);
    return why;
}

std::optional<Obstacle> closed_by(const Desk& desk, const Host& host) {
    if (unavailable(desk, host).empty()) return std::nullopt;
    if (desk.estate.claims.by().node_host.has(host.id)) return Obstacle::cluster;
    if (!host.quarantined.empty()) return Obstacle::faulty;
    if (host.phase != HostPhase::ready || awaits_word(desk, host.id)) return Obstacle::unreachable;
    if (host.cordoned) return Obstacle::cordoned;
    if (unavailable(host).empty())
        return has_no_disk_limit(desk, host) && !is_emptied(desk, host.id) ? Obstacle::refused
                                                                           : Obstacle::draining;
    if (!needs_reboot(host).empty() || !host.engine_error.empty()) return Obstacle::faulty;
    return Obstacle::refused;
}

Room& room(const Desk& desk) {
    desk.live.part<Room>().follow(desk);
    return desk.live.part<Room>();
}

std::vector<const Claim*> claims_on(const Desk& desk, const std::string& host) {
    std::vector<const Claim*> claims;
    const auto& hosts = room(desk).hosts();
    const auto there = hosts.find(host);
    if (there == hosts.end()) return claims;
    for (const std::string& id : there->second.claims) claims.push_back(&desk.estate.claims.at(id));
    return claims;
}

std::map<std::string, int> slots_per_zone(const Desk& desk, const std::string& spec) {
    std::map<std::string, int> count;
    for (const Slot* slot : desk.estate.slots.by().spec.of(spec))
        if (!slot->claim.empty()) ++count[desk.estate.claims.at(slot->claim).zone];
    return count;
}

Demand demand_of(const Spec& spec, const std::string& zone) {
    return {.cpu_milli = spec.cpu_milli,
            .memory_bytes = spec.memory_bytes,
            .gpu_type = spec.gpu_type,
            .gpu_count = spec.gpu_count,
            .zone = zone};
}

std::string group_key(const std::string& tenant, const std::string& group) { return tenant + "/" + group; }

Demand demand_of(const Desk& desk, const Spec& spec, const Instance& instance) {
    Demand demand = demand_of(spec, instance.spec.zone);
    if (instance.spec.placement) demand.wishes = *instance.spec.placement;
    demand.wishes.terms.programs = instance.spec.program;
    narrow(demand.wishes.terms, policies_of(desk, instance.tenant));
    if (demand.wishes.group.empty()) return demand;
    demand.kind = group_key(instance.tenant, demand.wishes.group);
    for (const LeftPlace& place : instance.left)
        if (const Claim* held = desk.estate.claims.find(place.claim); held && held->use == ClaimUse::instance)
            demand.leaves = place.host;
    return demand;
}

Error refusal(const Denial& why, const std::string& before) {
    Error error{Code::conflict, before + why.sentence,
                why.never ? "placement_impossible" : "insufficient_capacity"};
    error.help = why.would_help;
    for (const Reason& reason : why.reasons)
        error.fields.push_back({std::string{token_of(reason.obstacle)}, std::to_string(reason.hosts)});
    return error;
}

std::optional<int> free_address(const Desk& desk, const std::string& host, int from) {
    std::set<int> taken;
    for (const Claim* claim : claims_on(desk, host)) taken.insert(claim->address_index);
    while (taken.contains(from)) ++from;
    return from <= address_last ? std::optional{from} : std::nullopt;
}

const Claim& claim(Desk& desk, const Demand& demand, const Placement& placement, ClaimUse use, ClaimOf of) {
    const auto address = free_address(desk, placement.host);
    HOSTLER_ASSERT(address);  // A host without a place is closed.
    Claim made{.id = new_id(desk.random, "c"),
               .host = placement.host,
               .zone = placement.zone,
               .use = use,
               .tenant = std::move(of.tenant),
               .project = std::move(of.project),
               .holder = std::move(of.holder)};
    made.created_by = std::move(of.created_by);
    made.cpu_milli = demand.cpu_milli;
    made.memory_bytes = demand.memory_bytes;
    made.gpus = placement.gpus;
    made.group = demand.wishes.group;
    made.address_index = *address;
    return desk.estate.hold(std::move(made));
}

std::set<std::string> instances_on(const Desk& desk, const std::string& host) {
    std::set<std::string> ids;
    for (const Claim* claim : desk.estate.claims.by().host.of(host)) {
        const Instance* instance = desk.estate.instances.find(claim->holder);
        if (instance && instance->claim == claim->id) ids.insert(instance->id);
    }
    return ids;
}

}  // namespace hostler::master

#include "roles/master/capacity.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/foreign_rules.h"
#include "roles/master/image_rules.h"

namespace hostler::master {

namespace {

constexpr int place_min = 2;  // .0 is the network, .1 the gateway,
constexpr int place_max = 254;

bool usable(const Host& host, const std::string& gpu) {
    const auto state = host.gpu_states.find(gpu);
    if (state == host.gpu_states.end()) return true;
    switch (state->second.health) {
        case GpuHealth::healthy:
        case GpuHealth::degraded: return true;
        case GpuHealth::faulty:
        case GpuHealth::unresponsive:
        case GpuHealth::gone: return false;
    }
    return false;
}

}  // namespace

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
    if (!host.engine_error.empty())
        return fmt::format("has no working container engine: {}", host.engine_error);
    return {};
}

std::string unavailable(const Desk& desk, const Host& host) {
    std::string why = unavailable(host);
    if (why.empty() && awaits_word(desk, host.id)) why = "has not said what runs there since the restore";
    return why;
}

std::vector<Candidate> candidates(const Desk& desk, const std::string& spec, const std::string& image) {
    std::map<std::string, Candidate> by_host;
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        if (host.phase == HostPhase::retired) continue;
        Candidate candidate{
            .id = id, .name = host.facts.hostname, .zone = host.zone, .unavailable = unavailable(desk, host)};
        candidate.cpu_milli = candidate.cpu_total_milli = host.facts.cpus * std::int64_t{1000};
        candidate.memory_bytes = candidate.memory_total_bytes = host.facts.memory_bytes;
        candidate.places = place_max - place_min + 1;
        for (const GpuFacts& gpu : host.facts.gpus) {
            if (gpu.cdi_name.empty() || !usable(host, gpu.uuid)) continue;
            candidate.gpus.push_back({gpu.uuid, gpu.model, gpu.memory_bytes, gpu.numa_node});
        }
        candidate.gpus_total = static_cast<int>(candidate.gpus.size());
        candidate.volume_bytes = host.facts.volume_bytes;
        candidate.volumes_refused = host.facts.volumes_refused;
        candidate.has_image = !image.empty() && has_image(desk, id, image);
        by_host.emplace(id, std::move(candidate));
    }
    for (const auto& [id, claim] : desk.estate.claims.all()) {
        const auto at = by_host.find(claim.host);
        if (at == by_host.end()) continue;
        Candidate& candidate = at->second;
        candidate.cpu_milli -= claim.cpu_milli;
        candidate.memory_bytes -= claim.memory_bytes;
        candidate.places -= claim.address_index > 0 ? 1 : 0;
        std::erase_if(candidate.gpus, [&](const FreeGpu& gpu) {
            return std::ranges::count(claim.gpus, gpu.uuid) > 0 || uses(desk, claim, gpu.uuid);
        });
    }
    for (const auto& [id, volume] : desk.estate.volumes.all())
        if (const auto at = by_host.find(volume.host); at != by_host.end())
            at->second.volume_bytes -= room_of(std::max(volume.size_bytes, volume.wanted_bytes));
    for (const auto& [id, slot] : desk.estate.slots.all()) {
        if (slot.spec != spec || slot.claim.empty()) continue;
        const auto at = by_host.find(desk.estate.claims.at(slot.claim).host);
        if (at != by_host.end()) ++at->second.stock;
    }
    std::vector<Candidate> all;
    all.reserve(by_host.size());
    for (auto& [id, candidate] : by_host) all.push_back(std::move(candidate));
    return all;
}

std::map<std::string, int> slots_per_zone(const Desk& desk, const std::string& spec) {
    std::map<std::string, int> count;
    for (const auto& [id, slot] : desk.estate.slots.all())
        if (slot.spec == spec && !slot.claim.empty()) ++count[desk.estate.claims.at(slot.claim).zone];
    return count;
}

Demand demand_of(const Spec& spec, const std::string& zone) {
    return {.cpu_milli = spec.cpu_milli,
            .memory_bytes = spec.memory_bytes,
            .gpu_type = spec.gpu_type,
            .gpu_count = spec.gpu_count,
            .zone = zone};
}

const Claim& claim(Desk& desk, const Demand& demand, const Placement& placement, ClaimUse use,
                   const std::string& tenant, const std::string& holder) {
    std::set<int> taken;
    for (const auto& [id, other] : desk.estate.claims.all())
        if (other.host == placement.host) taken.insert(other.address_index);
    int index = place_min;
    while (taken.contains(index)) ++index;
    HOSTLER_ASSERT(index <= place_max);  // unfit() refuses a host without a place.
    Claim made{.id = new_id(desk.random, "c"),
               .host = placement.host,
               .zone = placement.zone,
               .use = use,
               .tenant = tenant,
               .holder = holder};
    made.cpu_milli = demand.cpu_milli;
    made.memory_bytes = demand.memory_bytes;
    made.gpus = placement.gpus;
    made.address_index = index;
    return desk.estate.hold(std::move(made));
}

}  // namespace hostler::master

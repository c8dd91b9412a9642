#include "estate_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_volume.h"
#include "roles/master/consolidation/execution.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/testing/room_check.h"
#include "roles/master/testing/usage_check.h"
#include "roles/master/volume/view.h"

namespace hostler::simulation {

namespace {

using master::Desk;
using master::Estate;

// Whom a claim serves is counted from those who are served, not from the claim's own word.
enum class Use { idle, tenant, stock, reserved, foreign, leaving, node, out_of_service };

std::optional<Use> use_of(const Estate& estate, const Claim& claim, std::string& wrong) {
    const auto* instance = estate.instances.find(claim.holder);
    switch (claim.use) {
        case ClaimUse::foreign: return Use::foreign;
        case ClaimUse::stock: {
            const auto* slot = estate.slots.find(claim.holder);
            if (slot && slot->claim == claim.id && slot->phase == SlotPhase::idle) return Use::stock;
            wrong = "it says stock, and no idle slot has it";
            return std::nullopt;
        }
        case ClaimUse::instance:
            if (instance && instance->claim == claim.id && instance->host == claim.host &&
                instance->tenant == claim.tenant && has_place(instance->phase))
                return Use::tenant;
            wrong = "it says instance, and no living one has it";
            return std::nullopt;
        case ClaimUse::reserved:
            if (instance && instance->claim != claim.id && master::step_of_claim(estate, claim.id))
                return Use::reserved;
            wrong = "it says reserved, and no step of a consolidation has it";
            return std::nullopt;
        case ClaimUse::leaving:
            if (instance && instance->claim == claim.id && is_final(instance->phase)) return Use::leaving;
            if (instance && std::ranges::any_of(instance->left, [&](const LeftPlace& place) {
                    return place.claim == claim.id && place.host == claim.host;
                }))
                return Use::leaving;
            wrong = "it says leaving, and no ended or moved instance has it";
            return std::nullopt;
        case ClaimUse::node: {
            const auto* node = estate.cluster_nodes.find(claim.holder);
            if (node && node->claim == claim.id && node->host == claim.host && node->tenant == claim.tenant)
                return Use::node;
            wrong = "it says node, and none of a cluster has it";
            return std::nullopt;
        }
    }
    return std::nullopt;
}

void check_holders(const Estate& estate, Findings& found) {
    for (const auto& [id, instance] : estate.instances.all()) {
        if (instance.claim.empty() && !has_place(instance.phase)) continue;
        const Claim* claim = instance.claim.empty() ? nullptr : estate.claims.find(instance.claim);
        if (!claim || claim->holder != id)
            found.report(Invariant::claim_identity,
                         fmt::format("instance {} is {} and has no claim ('{}')", id,
                                     state_of(instance.phase), instance.claim));
    }
    for (const auto& [id, slot] : estate.slots.all())
        if (slot.phase == SlotPhase::idle && !estate.claims.find(slot.claim))
            found.report(Invariant::claim_identity, fmt::format("slot {} is idle and has no claim", id));
}

bool out_of_service(const Host& host, const std::string& gpu) {
    const auto state = host.gpu_states.find(gpu);
    return state != host.gpu_states.end() && state->second.health != GpuHealth::healthy &&
           state->second.health != GpuHealth::degraded;
}

}  // namespace

void check_claims(const Desk& desk, Findings& found) {
    const Estate& estate = desk.estate;
    struct Sum {
        std::map<std::string, std::string> gpus;  // Claim by GPU.
        std::int64_t cpu_milli = 0;
        std::int64_t memory_bytes = 0;
        std::map<Use, std::size_t> uses;  // GPUs.
    };
    std::map<std::string, Sum> sums;
    for (const auto& [id, claim] : estate.claims.all()) {
        Sum& sum = sums[claim.host];
        std::string wrong;
        const auto use = use_of(estate, claim, wrong);
        if (!use)
            found.report(Invariant::claim_identity,
                         fmt::format("claim {} of '{}' on {}: {}", id, claim.holder, claim.host, wrong));
        if (use) sum.uses[*use] += claim.gpus.size();
        sum.cpu_milli += claim.cpu_milli;
        sum.memory_bytes += claim.memory_bytes;
        for (const std::string& gpu : claim.gpus) {
            const auto [at, free] = sum.gpus.emplace(gpu, id);
            if (!free)
                found.report(Invariant::gpu_once, fmt::format("{} is in the claims {} and {} on {}", gpu,
                                                              at->second, id, claim.host));
        }
    }
    for (const auto& [id, host] : estate.hosts.all()) {
        if (host.facts.gpus.empty()) continue;  // It has not reported yet.
        Sum& sum = sums[id];
        for (const GpuFacts& gpu : host.facts.gpus)
            if (!sum.gpus.contains(gpu.uuid))
                ++sum.uses[out_of_service(host, gpu.uuid) ? Use::out_of_service : Use::idle];
        std::size_t all = 0;
        for (const auto& [use, gpus] : sum.uses) all += gpus;
        if (all != host.facts.gpus.size())
            found.report(Invariant::claim_identity,
                         fmt::format("{} GPUs of host {} are accounted for, and it has {}", all, id,
                                     host.facts.gpus.size()));
        if (sum.cpu_milli > host.facts.cpus * std::int64_t{1000} ||
            sum.memory_bytes > host.facts.memory_bytes)
            found.report(Invariant::claim_identity,
                         fmt::format("more CPU or memory is held on host {} than it has", id));
    }
    check_holders(estate, found);
}

// Compared among instances, and not with the subnet's own word alone.
void check_networks(const Desk& desk, Findings& found) {
    std::map<std::string, const Instance*> first;  // By subnet.
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        if (instance.subnet.empty()) continue;
        const auto [at, only] = first.emplace(instance.subnet, &instance);
        const Instance& other = *at->second;
        if (!only && (other.tenant != instance.tenant || other.project != instance.project))
            found.report(Invariant::networks,
                         fmt::format("subnet {} has {} of {}/{} and {} of {}/{}", instance.subnet, other.id,
                                     other.tenant, other.project, id, instance.tenant, instance.project));
        const Subnet* subnet = desk.estate.subnets.find(instance.subnet);
        if (subnet && (subnet->tenant != instance.tenant || subnet->project != instance.project))
            found.report(Invariant::networks,
                         fmt::format("{} of {}/{} is in subnet {} of {}/{}", id, instance.tenant,
                                     instance.project, subnet->id, subnet->tenant, subnet->project));
    }
}

void FitCheck::look(const Desk& desk, Findings& found) {
    std::map<std::string, std::string> now;
    for (const auto& [id, host] : desk.estate.hosts.all())
        for (const auto& [gpu, state] : host.gpu_states)
            if (!is_fit(state.health)) {
                // A release that was not durable is undone by the next leader: the last holder has it again.
                const auto before = unfit_.find(gpu);
                now[gpu] = before == unfit_.end() ? "" : before->second;
            }
    for (const auto& [id, claim] : desk.estate.claims.all())
        for (const std::string& gpu : claim.gpus)
            if (const auto at = now.find(gpu); at != now.end()) {
                at->second = claim.holder;
                const auto before = unfit_.find(gpu);
                // A node of a cluster is the whole host, whatever its GPUs are.
                const bool chosen = claim.use != ClaimUse::foreign && claim.use != ClaimUse::node;
                if (chosen && before != unfit_.end() && before->second != claim.holder)
                    found.report(Invariant::fit,
                                 fmt::format("{} is unfit and was given to {}", gpu, claim.holder));
            }
    unfit_ = std::move(now);
}

void TermsCheck::look(const Desk& desk, Findings& found) {
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        if (!instance.spec.placement || instance.claim.empty() || !has_place(instance.phase)) continue;
        if (std::exchange(seen_[id], instance.claim) == instance.claim) continue;
        const Spec& spec = desk.estate.specs.at(instance.spec_name);
        if (!master::testing::does(desk, master::demand_of(desk, spec, instance),
                                   desk.estate.claims.at(instance.claim)))
            found.report(Invariant::terms,
                         fmt::format("{} was placed on {}, which is not as was wished", id, instance.host));
    }
}

void check_sellers(const Desk& desk, const std::set<std::string>& liars, Findings& found) {
    if (liars.empty()) return;
    for (const auto& [id, claim] : desk.estate.claims.all()) {
        const Host* host = desk.estate.hosts.find(claim.host);
        if (host && claim.use != ClaimUse::foreign && liars.contains(host->facts.hostname))
            found.report(Invariant::sells, fmt::format("{} sells to {}, and its GPUs are not what it says",
                                                       host->facts.hostname, claim.holder));
    }
}

void StockCheck::look(const Desk& desk, std::uint64_t epoch, Findings& found) {
    const bool begun = epoch != std::exchange(epoch_, epoch);
    std::map<std::string, int> ready;  // By spec, with those that were taken by instances since.
    for (const auto& [host, spares] : master::idle_stock(desk).by_host)
        for (const Spare& spare : spares) ++ready[spare.kind];
    std::set<std::string> seen, idle;
    for (const auto& [id, slot] : desk.estate.slots.all()) {
        if (slot.phase == SlotPhase::idle) idle.insert(id);
        if (slot.phase == SlotPhase::used && idle_.contains(id)) ++ready[slot.spec];
    }
    for (const auto& [id, slot] : desk.estate.slots.all()) {
        if (slot.gave_way.empty()) continue;
        const auto [at, fresh] = seen.insert(slot.gave_way + " " + id);
        if (begun || seen_.contains(*at)) continue;
        const Spec& spec = desk.estate.specs.at(slot.spec);
        if (spec.reclaim == Reclaim::never || ready[slot.spec] < spec.keep)
            found.report(Invariant::stock,
                         fmt::format("slot {} gave way to {}; {} of {} stand ready, and {} are kept", id,
                                     slot.gave_way, ready[slot.spec], slot.spec,
                                     spec.reclaim == Reclaim::never ? "all" : std::to_string(spec.keep)));
        if (const ClusterNode* node = desk.estate.cluster_nodes.find(slot.gave_way);
            node && desk.estate.claims.find(node->claim))
            continue;  // It takes whole hosts.
        const Instance* to = desk.estate.instances.find(slot.gave_way);
        if (!to || to->claim.empty())
            found.report(Invariant::stock,
                         fmt::format("slot {} gave way to {}, which has no place", id, slot.gave_way));
        else if (!unfit(master::demand_of(spec, slot.zone), master::room(desk).hosts().at(to->host).free))
            found.report(Invariant::stock, fmt::format("slot {} gave way to {}, and there is room beside it",
                                                       id, slot.gave_way));
    }
    seen_ = std::move(seen);
    idle_ = std::move(idle);
}

// Where the next one would go is decided on what the index holds.
void check_room(const Desk& desk, Findings& found) {
    if (const auto wrong = master::testing::room_is_wrong(desk); !wrong.empty())
        found.report(Invariant::room, wrong);
    if (const auto wrong = master::testing::usage_is_wrong(desk); !wrong.empty())
        found.report(Invariant::room, wrong);
}

// A volume has at least what its owner was told that it has.
void check_sizes(const Desk& desk, const std::map<std::string, std::uint64_t>& on_disk,
                 const std::set<std::string>& spared, Findings& found) {
    for (const auto& [id, volume] : desk.estate.volumes.all()) {
        if (volume.phase != VolumePhase::available || spared.contains(id)) continue;
        const auto there = on_disk.find(id);
        if (there == on_disk.end() || there->second < static_cast<std::uint64_t>(volume.size_bytes))
            found.report(Invariant::durable,
                         fmt::format("volume {} has {} bytes on host {}, and {} there", id, volume.size_bytes,
                                     volume.host, there == on_disk.end() ? 0 : there->second));
    }
}

DiskUse UseCheck::tell(const std::string& volume, std::uint64_t size) {
    constexpr std::int64_t inodes = 1000;
    const std::int64_t used = std::ssize(told_) + 1;
    told_[used] = volume;
    return {used, static_cast<std::int64_t>(size), 1, inodes};
}

void UseCheck::look(const Desk& desk, Findings& found) const {
    for (const auto& [id, volume] : desk.estate.volumes.all()) {
        const auto used = master::view(desk, volume).used_bytes;
        if (!used) continue;
        const auto whose = told_.find(*used);
        if (whose == told_.end() || whose->second != id)
            found.report(Invariant::use,
                         fmt::format("{} bytes of volume {} are shown to be in use, and {}", *used, id,
                                     whose == told_.end() ? "no host said so"
                                                          : "its host said so of " + whose->second));
    }
}

void check_reports(const master::Desk& desk, Findings& found) {
    for (const auto& [id, host] : desk.live.hosts)
        if (host.reports_lost > 0)
            found.report(Invariant::reports,
                         fmt::format("{} reports of host {} never came; the last is number {}",
                                     host.reports_lost, id, host.last_sequence));
}

void check_engine(const sim::Machine& machine, const std::set<std::string>& spared, Findings& found) {
    std::map<std::string, std::string> used;
    std::map<std::string, std::pair<std::string, bool>> mounted;  // Who, and whether for writing.
    for (const auto& container : machine.engine.standing()) {
        if (container.state != ContainerState::running) continue;
        for (const MountSpec& mount : container.spec.mounts) {
            const auto [at, first] =
                mounted.emplace(mount.source, std::pair(container.spec.name, !mount.read_only));
            if (!first && at->second.first != container.spec.name && (at->second.second || !mount.read_only))
                found.report(Invariant::one_writer,
                             fmt::format("{} on {} is mounted by {} and {}, and not read-only", mount.source,
                                         machine.name, at->second.first, container.spec.name));
        }
    }
    std::map<std::string, std::pair<std::string, std::string>> networks;  // Tenant and project.
    for (const auto& container : machine.engine.standing()) {
        const auto label = [&](const char* name) {
            const auto found_label = container.spec.labels.find(name);
            return found_label == container.spec.labels.end() ? std::string{} : found_label->second;
        };
        if (container.state != ContainerState::running || container.spec.network.empty()) continue;
        const std::pair whose{label("hostler.tenant"), label("hostler.project")};
        const auto [at, only] = networks.emplace(container.spec.network, whose);
        if (!only && at->second != whose)
            found.report(
                Invariant::networks,
                fmt::format("network {} on {} has containers of {}/{} and {}/{}", container.spec.network,
                            machine.name, at->second.first, at->second.second, whose.first, whose.second));
    }
    for (const auto& container : machine.engine.standing()) {
        if (container.state != ContainerState::running) continue;
        if (spared.contains(instance_of(container.spec.name))) continue;
        for (const std::string& device : container.spec.cdi_devices) {
            const auto [at, free] = used.emplace(device, container.spec.name);
            if (!free)
                found.report(Invariant::gpu_once, fmt::format("{} is used by {} and {} on {}", device,
                                                              at->second, container.spec.name, machine.name));
        }
    }
}

}  // namespace hostler::simulation

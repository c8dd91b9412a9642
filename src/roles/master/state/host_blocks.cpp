#include "roles/master/state/host_blocks.h"

#include <algorithm>

namespace hostler::master {

const Restore* restore_of(const Desk& desk) {
    const auto& all = desk.estate.restores.all();
    return all.empty() ? nullptr : &all.begin()->second;
}

bool awaits_word(const Desk& desk, const std::string& host) {
    const Restore* restore = restore_of(desk);
    return restore && !restore->heard.contains(host);
}

std::chrono::milliseconds lease_of(const Desk& desk, const Instance& instance) {
    return std::max(std::chrono::milliseconds{instance.lease_ms}, desk.settings.move_lease);
}

bool may_run_elsewhere(const Desk& desk, const Instance& instance) {
    const Restore* restore = restore_of(desk);
    if (!restore || instance.spec.loss_policy == LossPolicy::stay ||
        instance.created_at >= restore->restored_at)
        return false;
    const auto until = lease_of(desk, instance) + desk.settings.move_margin;
    return restore->restored_at + std::chrono::microseconds{until}.count() > desk.estate.micros();
}

const SeenWorkload* seen_workload(const Desk& desk, const Claim& foreign) {
    const auto host = desk.live.hosts.find(foreign.host);
    if (host == desk.live.hosts.end() || !host->second.connected || !host->second.complete) return nullptr;
    const auto workload = host->second.workloads.find(foreign.holder);
    return workload == host->second.workloads.end() ? nullptr : &workload->second;
}

bool uses(const Desk& desk, const Claim& foreign, const std::string& gpu) {
    const SeenWorkload* workload = foreign.use == ClaimUse::foreign ? seen_workload(desk, foreign) : nullptr;
    return workload && std::ranges::count(workload->gpus, gpu) > 0;
}

bool collides(const Desk& desk, const Claim& claim, const SeenWorkload& workload) {
    const auto place = desk.pool.place_of(workload.address);
    return (place && place->place == claim.address_index) ||
           std::ranges::any_of(workload.gpus, [&](const std::string& gpu) {
               return std::ranges::count(claim.gpus, gpu) > 0;
           });
}

bool used_by_foreign(const Desk& desk, const Claim& claim) {
    return std::ranges::any_of(desk.estate.claims.by().host.of(claim.host), [&](const Claim* other) {
        if (other->use != ClaimUse::foreign) return false;
        const SeenWorkload* workload = seen_workload(desk, *other);
        return workload && collides(desk, claim, *workload);
    });
}

bool is_emptied(const Desk& desk, const std::string& host) {
    return std::ranges::any_of(desk.estate.consolidations.all(), [&](const auto& row) {
        return !is_final(row.second.phase) && std::ranges::count(row.second.freed, host) > 0;
    });
}

const ConsolidationStep* step_of_claim(const Estate& estate, const std::string& claim) {
    for (const auto& [id, run] : estate.consolidations.all())
        for (const ConsolidationStep& step : run.steps)
            if (step.phase == MoveState::stopping && step.claim == claim) return &step;
    return nullptr;
}

}  // namespace hostler::master

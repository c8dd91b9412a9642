#include "roles/master/run/failover.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "domain/instance/move.h"
#include "roles/master/host/view.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/places.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/runs.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

constexpr std::int64_t look_again_us = 5'000'000;  // For room elsewhere.

std::string rest_key(const std::string& id) { return "move/" + id; }

// Its slot looks for a place of its own; what it held there is held on.
void leave(Desk& desk, const Instance& instance) {
    if (!instance.slot.empty()) {
        Slot& slot = desk.estate.slots.edit(instance.slot);
        slot.instance.clear();
        slot.claim.clear();
        slot.phase = SlotPhase::pending;
    }
    desk.estate.pass_on(instance.claim, ClaimUse::leaving,
                        {instance.tenant, instance.project, instance.id, instance.created_by});
}

void move_away(Desk& desk, const std::string& id) {
    const Instance before = desk.estate.instances.at(id);
    Instance moved = before;
    keep_run(desk, moved, "moved");
    moved.left.push_back({before.host, before.claim, before.subnet, desk.estate.micros()});
    moved.claim.clear();
    moved.slot.clear();
    moved.subnet.clear();
    if (const auto settled = settle(desk, moved, before.spec.zone, "", WantedBy::master); !settled) {
        desk.live.rest_until[rest_key(id)] = desk.estate.micros() + look_again_us;
        const std::string why =
            fmt::format("it has stopped on host {}, which is silent, and waits for room elsewhere: {}",
                        host_name(desk, before.host), settled.error().message);
        if (before.reason == "waits_for_room" && before.message == why) return;
        Instance& waiting = desk.estate.instances.edit(id);
        waiting.reason = "waits_for_room";
        waiting.message = why;
        return;
    }
    leave(desk, before);
    begin_run(desk, moved, "moved");
    moved.ran_since = 0;
    desk.live.hosts[moved.host].missed.erase(id);
    const std::uint64_t generation = moved.meta.generation;
    const std::string host = moved.host;
    desk.estate.instances.edit(id) = std::move(moved);
    close_commands(desk, id, generation);
    note(desk, id, InstanceEvent::restart, "moved",
         fmt::format("host {} is silent, so it starts again on host {}", host_name(desk, before.host),
                     host_name(desk, host)));
    reconcile_instance(desk, id);
}

}  // namespace

void follow_moves(Desk& desk, Instant now) {
    std::vector<std::string> ids;
    for (const Instance* lost : desk.estate.instances.by().work.of(InstanceWork::move)) {
        const Instance& instance = *lost;
        const auto live = desk.live.hosts.find(instance.host);
        if (live == desk.live.hosts.end() || live->second.heard == Instant{}) continue;
        const MoveTerms terms{lease_of(desk, instance), desk.settings.move_margin};
        if (plan_move(instance.spec.loss_policy, instance.phase, now - live->second.heard, terms) ==
                MoveStep::move &&
            !awaits_word(desk, instance.host) && !may_run_elsewhere(desk, instance) &&
            !resting(desk, rest_key(instance.id)))
            ids.push_back(instance.id);
    }
    for (const std::string& id : ids) move_away(desk, id);
}

std::vector<std::pair<std::string, std::uint64_t>> leases_on(const Desk& desk, const std::string& host) {
    std::vector<std::pair<std::string, std::uint64_t>> held;
    for (const Claim* claim : claims_on(desk, host)) {
        const Instance* instance = desk.estate.instances.find(claim->holder);
        if (instance && instance->claim == claim->id && instance->spec.loss_policy == LossPolicy::move &&
            has_place(instance->phase))
            held.emplace_back(instance->id, instance->run_generation);
    }
    std::ranges::sort(held);
    return held;
}

std::string lost_with(const Desk& desk, const std::string& id) {
    const Instance& instance = desk.estate.instances.at(id);
    if (instance.spec.loss_policy == LossPolicy::stay)
        return "its host is silent; it may still run there, and comes back with it";
    return fmt::format(
        "its host is silent; it stops there, and starts again on another host after {} s of silence",
        std::chrono::ceil<std::chrono::seconds>(lease_of(desk, instance) + desk.settings.move_margin)
            .count());
}

void go_on_elsewhere(Desk& desk, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    if (!instance || instance->phase != InstancePhase::resting || instance->reason != drained) return;
    if (instance->spec.loss_policy != LossPolicy::move || !instance->spec.volumes.empty()) return;
    const std::string key = "drain/" + id;
    if (!resting(desk, key) && !wake_instance(desk, id, WantedBy::master))
        desk.live.rest_until[key] = desk.estate.micros() + look_again_us;
}

}  // namespace hostler::master

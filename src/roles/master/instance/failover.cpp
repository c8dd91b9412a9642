#include "roles/master/instance/failover.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "domain/instance/move.h"
#include "roles/master/host/view.h"
#include "roles/master/instance/layers.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/instance/stop_start.h"
#include "roles/master/network/subnets.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

constexpr std::int64_t look_again_us = 5'000'000;  // For room elsewhere.

std::string rest_key(const std::string& id) { return "move/" + id; }

bool left_there(const Instance& instance, const std::string& host) {
    return std::ranges::count(instance.left, host, &LeftPlace::host) > 0;
}

// By id; what each held there is held on. The host is not removed.
std::set<std::string> left_on(const Desk& desk, const std::string& host) {
    std::set<std::string> ids;
    for (const Claim* claim : claims_on(desk, host)) {
        const Instance* instance = desk.estate.instances.find(claim->holder);
        if (instance && left_there(*instance, host)) ids.insert(instance->id);
    }
    return ids;
}

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

void begin_anew(Desk& desk, const std::string& id) {
    Instance& instance = desk.estate.instances.edit(id);
    keep_layer(desk, instance);
    begin_run(desk, instance, "lease_ended");
    close_commands(desk, id, instance.meta.generation);
    note(desk, id, InstanceEvent::restart, "lease_ended",
         "its host stopped it after a long time without contact to a master; it starts again there");
}

bool may_run_at(const Desk& desk, const Instance& instance, const std::string& host) {
    const auto live = desk.live.hosts.find(host);
    const bool takes_secrets = live != desk.live.hosts.end() && live->second.takes_secrets;
    if (!takes_secrets && needs_secrets(desk, instance)) return false;
    if (instance.spec.loss_policy == LossPolicy::stay) return true;
    return live != desk.live.hosts.end() && live->second.keeps_leases && !left_there(instance, host);
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

void reconcile_left(Desk& desk, const std::string& host) {
    const auto live = desk.live.hosts.find(host);
    if (live == desk.live.hosts.end() || !live->second.connected || !live->second.complete) return;
    for (const std::string& id : left_on(desk, host)) {
        const std::string subject = left_subject(id, host);
        if (commanded(desk, subject) || resting(desk, subject)) continue;
        std::uint64_t generation = desk.estate.instances.at(id).meta.generation;
        // After the backup that the store was restored from it may have been begun there again.
        if (const auto seen = live->second.workloads.find(id); seen != live->second.workloads.end())
            generation = std::max(generation, seen->second.generation + 1);
        command(desk, host, Verb::stop_left, subject, generation);
    }
}

void note_left(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const std::string id = left_instance(command.subject);
    const Instance* instance = desk.estate.instances.find(id);
    if (!answer.done || !instance) return;
    const auto left = std::ranges::find(instance->left, command.host, &LeftPlace::host);
    if (left == instance->left.end()) return;
    const LeftPlace place = *left;
    std::erase(desk.estate.instances.edit(id).left, place);
    desk.estate.release(place.claim);
    leave_subnet(desk, place.subnet);
    desk.live.hosts[command.host].workloads.erase(id);
    desk.estate.event(
        "instance", id, instance->tenant, "left_place_free",
        fmt::format("Host {} confirms that nothing of it runs there: its resources there are free.",
                    host_name(desk, command.host)));
}

void forget_left(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const Instance* instance : desk.estate.instances.by().left_host.of(host))
        ids.push_back(instance->id);
    for (const std::string& id : ids)
        std::erase_if(desk.estate.instances.edit(id).left,
                      [&](const LeftPlace& place) { return place.host == host; });
}

std::string left_subject(const std::string& instance, const std::string& host) {
    return instance + "@" + host;
}

std::string left_instance(const std::string& subject) { return subject.substr(0, subject.find('@')); }

void go_on_elsewhere(Desk& desk, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    if (!instance || instance->phase != InstancePhase::resting || instance->reason != drained) return;
    if (instance->spec.loss_policy != LossPolicy::move || !instance->spec.volumes.empty()) return;
    const std::string key = "drain/" + id;
    if (!resting(desk, key) && !wake_instance(desk, id, WantedBy::master))
        desk.live.rest_until[key] = desk.estate.micros() + look_again_us;
}

}  // namespace hostler::master

#include "roles/master/run/runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/command/commands.h"
#include "roles/master/network/subnets.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

void end(Desk& desk, Instance& instance) {
    if (instance.ended_at == 0) instance.ended_at = desk.estate.micros();
    // From here on nobody pays for it, and yet nobody else gets it before the host says that nothing runs.
    if (!instance.claim.empty())
        desk.estate.pass_on(instance.claim, ClaimUse::leaving,
                            {instance.tenant, instance.project, instance.id, instance.created_by});
}

// Whether it may be started once more with something else.
static bool may_begin_again(const Instance& instance) {
    constexpr std::uint64_t tries_max = 16;
    return next(instance_life, instance.phase, InstanceEvent::fail) && instance.run_generation < tries_max;
}

void begin_again(Desk& desk, Instance& instance, std::string reason, std::string message) {
    instance.run_generation = ++instance.meta.generation;
    desk.live.rest_until.erase(instance.id);
    instance.phase = InstancePhase::placed;
    instance.reason = std::move(reason);
    instance.message = std::move(message);
    desk.estate.event("instance", instance.id, instance.tenant, instance.reason, instance.message);
}

}  // namespace

void keep_run(Desk& desk, Instance& instance, const std::string& reason) {
    const bool kept = !instance.runs.empty() && instance.runs.back().generation == instance.run_generation;
    if (kept || instance.started_at == 0) return;
    if (instance.runs.size() >= InstanceRun::kept_max) instance.runs.erase(instance.runs.begin());
    instance.runs.push_back({.generation = instance.run_generation,
                             .host = instance.host,
                             .started_at = instance.started_at,
                             .ready_at = instance.ready_at,
                             .ended_at = instance.ended_at != 0 ? instance.ended_at : desk.estate.micros(),
                             .reason = reason,
                             .exit_code = instance.exit_code});
}

void note(Desk& desk, const std::string& id, InstanceEvent event, std::string reason, std::string message) {
    const InstancePhase from = desk.estate.instances.at(id).phase;
    const auto to = next(instance_life, from, event);
    if (!to) return;
    Instance& instance = desk.estate.instances.edit(id);
    instance.phase = *to;
    instance.reason = reason;
    instance.message = message;
    if (*to == InstancePhase::running && instance.ready_at == 0) instance.ready_at = desk.estate.micros();
    if (*to == InstancePhase::running && instance.ran_since == 0) instance.ran_since = desk.estate.micros();
    // What was never seen probing has been running at once.
    if ((*to == InstancePhase::probing || *to == InstancePhase::running) && instance.started_at == 0)
        instance.started_at = desk.estate.micros();
    if (*to == InstancePhase::resting) instance.ended_at = desk.estate.micros();
    if (!has_place(*to)) keep_run(desk, instance, reason);
    if (is_final(*to)) end(desk, instance);
    desk.estate.event("instance", id, instance.tenant, std::move(reason), std::move(message));
}

bool ended_well(const Instance& instance, int exit_code) {
    const bool answered =
        instance.ready_at != 0 || std::ranges::none_of(instance.spec.ports, &InstancePort::is_probe);
    return exit_code == 0 && answered;
}

void note_completed(Desk& desk, const std::string& id) {
    note(desk, id, InstanceEvent::finish, std::string{completed}, "its program ended, with exit code 0");
}

void begin_run(Desk& desk, Instance& instance, const std::string& reason) {
    keep_run(desk, instance, reason);
    instance.run_generation = ++instance.meta.generation;
    instance.started_at = instance.ready_at = instance.ended_at = 0;
    instance.exit_code.reset();
    instance.told_of_stop = 0;
    instance.unused_stop_sent = false;
}

void end_run(Desk& desk, const std::string& id, const std::string& reason, const std::string& message,
             LayerWish layer) {
    Instance& ended = desk.estate.instances.edit(id);
    ++ended.meta.generation;
    if (layer == LayerWish::keep)
        keep_layer(desk, ended);
    else
        ended.layer_host.clear();
    close_commands(desk, id, ended.meta.generation);
    note(desk, id, InstanceEvent::halt, reason, message);
}

void begin_anew(Desk& desk, const std::string& id) {
    Instance& instance = desk.estate.instances.edit(id);
    keep_layer(desk, instance);
    begin_run(desk, instance, "lease_ended");
    close_commands(desk, id, instance.meta.generation);
    note(desk, id, InstanceEvent::restart, "lease_ended",
         "its host stopped it after a long time without contact to a master; it starts again there");
}

bool move_to_another_subnet(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    if (!may_begin_again(now) || !desk.estate.subnets.find(now.subnet)) return false;
    desk.estate.subnets.edit(now.subnet).unusable = true;
    const auto other = subnet_for(desk, {now.tenant, now.project, now.host});
    if (!other) return false;
    Instance& instance = desk.estate.instances.edit(id);
    instance.subnet = (*other)->id;
    instance.address =
        desk.pool.address((*other)->index, desk.estate.claims.at(instance.claim).address_index);
    begin_again(desk, instance, "subnet_in_use",
                "its host uses these addresses for something else; it gets others");
    return true;
}

bool move_to_another_address(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    const Subnet* subnet = desk.estate.subnets.find(now.subnet);
    if (!may_begin_again(now) || !subnet) return false;
    const auto other = free_address(desk, now.host, desk.estate.claims.at(now.claim).address_index + 1);
    if (!other) return false;
    Instance& instance = desk.estate.instances.edit(id);
    desk.estate.readdress(instance.claim, *other);
    instance.address = desk.pool.address(subnet->index, *other);
    begin_again(desk, instance, "address_taken",
                "something else on its host has its address; it gets another");
    return true;
}

bool begin_without_layer(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    if (now.layer_host.empty() || !next(instance_life, now.phase, InstanceEvent::fail)) return false;
    Instance& instance = desk.estate.instances.edit(id);
    instance.layer_host.clear();
    begin_again(desk, instance, "layer_lost",
                "its files outside its volumes are no longer on its host; it starts without them");
    return true;
}

}  // namespace hostler::master

#include "roles/master/run/stop_start.h"

#include <fmt/format.h>

#include "roles/master/command/commands.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/own_ports.h"
#include "roles/master/run/places.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/runs.h"
#include "roles/master/state/refuse.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

std::unexpected<Error> has_ended(const Instance& instance) {
    return refuse(fmt::format("instance {} is {}: it can no longer be started or stopped", instance.caller_id,
                              text_of(instance.phase)),
                  "instance_ended", "Create another one, with the same volumes.");
}

std::unexpected<Error> is_stopping(const Instance& instance) {
    return refuse(
        fmt::format("instance {} is being stopped", instance.caller_id), "instance_stopping",
        fmt::format("Wait until it has stopped: `hostler instance stop {} --wait`.", instance.caller_id));
}

// In the place that it has by now.
void begin_again(Desk& desk, Instance woken, InstanceEvent event = InstanceEvent::wake) {
    const std::string id = woken.id, reason = woken.reason, message = woken.message;
    begin_run(desk, woken, reason);
    woken.ran_since = 0;
    woken.schedule.kept_until = 0;
    desk.live.hosts[woken.host].missed.erase(id);  // That its last run is gone says nothing about this one.
    desk.estate.instances.edit(id) = std::move(woken);
    note(desk, id, event, reason, message);
    reconcile_instance(desk, id);
}

// Where its volumes lie, if it has any.
Result<> find_place(Desk& desk, Instance& instance, WantedBy by) {
    std::string zone = instance.spec.zone, host;
    TRY(find_volumes(desk, instance, zone, host));
    if (by == WantedBy::caller) TRY(admit(desk, instance, zone));
    const std::string kept = instance.layer_host;
    Result<> beside_layer = fail(Code::not_found, "nothing is kept");
    if (host.empty() && !kept.empty()) {
        Instance there = instance;
        if (beside_layer = settle(desk, there, zone, kept, by); beside_layer) instance = std::move(there);
    }
    if (!beside_layer) {
        TRY(settle(desk, instance, zone, host, by));
        if (host.empty() && !kept.empty() && instance.host != kept)
            desk.estate.event("instance", instance.id, instance.tenant, "layer_host_full",
                              fmt::format("Host {}, which keeps what it wrote outside its volumes, cannot "
                                          "take it: {}",
                                          kept, beside_layer.error().message));
    }
    if (instance.schedule.stop_at <= desk.estate.micros()) instance.schedule.stop_at = 0;  // It has come.
    return {};
}

// Another container would begin without what this one was given.
std::unexpected<Error> was_adopted(const Instance& instance) {
    return refuse(fmt::format("instance {} was adopted as it ran: its command and variables are not known",
                              instance.caller_id),
                  "instance_adopted",
                  "Delete it when it has done its work, and create another with its volumes.");
}

}  // namespace

Result<> halt_instance(Desk& desk, const std::string& id, const std::string& reason,
                       const std::string& message, LayerWish layer) {
    const Instance& now = desk.estate.instances.at(id);
    switch (now.phase) {
        case InstancePhase::halting:
        case InstancePhase::resting:
            if (now.reason == consolidated) {  // It was to be begun again: that is no longer wanted.
                Instance& stays = desk.estate.instances.edit(id);
                stays.reason = reason;
                stays.message = message;
                desk.estate.event("instance", id, stays.tenant, reason, message);
            }
            if (layer == LayerWish::discard && !now.layer_host.empty()) {
                Instance& stays = desk.estate.instances.edit(id);
                stays.layer_host.clear();
                desk.estate.event("instance", id, stays.tenant, "layer_discarded",
                                  "Its owner discarded what it wrote outside its volumes.");
            }
            return {};
        case InstancePhase::stopping:
        case InstancePhase::stopped:
        case InstancePhase::failed: return has_ended(now);
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::running:
        case InstancePhase::lost: break;
    }
    if (now.adopted) return was_adopted(now);
    end_run(desk, id, reason, message, layer);
    reconcile_instance(desk, id);
    return {};
}

Result<> wake_instance(Desk& desk, const std::string& id, WantedBy by) {
    Instance woken = desk.estate.instances.at(id);
    switch (woken.phase) {
        case InstancePhase::resting: break;
        case InstancePhase::halting: return is_stopping(woken);
        case InstancePhase::stopping:
        case InstancePhase::stopped:
        case InstancePhase::failed: return has_ended(woken);
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::running:
        case InstancePhase::lost: return {};
    }
    TRY(find_place(desk, woken, by));
    begin_again(desk, std::move(woken));
    return {};
}

Result<> begin_once_more(Desk& desk, const std::string& id) {
    Instance ended = desk.estate.instances.at(id);
    TRY(check_project(desk, ended.tenant, ended.project));
    TRY(keep_own_ports(desk, id, ended.spec.ports));
    TRY(find_place(desk, ended, WantedBy::caller));
    begin_again(desk, std::move(ended), InstanceEvent::retry);
    return {};
}

bool wake_at(Desk& desk, const std::string& id, const std::string& claim, const std::string& slot) {
    Instance woken = desk.estate.instances.at(id);
    // First, so that the ledger tells it.
    if (woken.spec.placement) desk.estate.claims.edit(claim).group = woken.spec.placement->group;
    desk.estate.pass_on(claim, ClaimUse::instance, {woken.tenant, woken.project, id, woken.created_by});
    woken.claim = claim;
    woken.slot = slot;
    if (!move_in(desk, woken)) return false;
    begin_again(desk, std::move(woken));
    return true;
}

Result<> restart_instance(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    const auto live = desk.live.hosts.find(now.host);
    switch (now.phase) {
        case InstancePhase::placed: return {};  // Nothing of it runs yet.
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::running:
            if (live != desk.live.hosts.end() && live->second.connected) break;
            [[fallthrough]];
        case InstancePhase::lost:
            return fail(Code::unavailable,
                        fmt::format("host {} of instance {} is not connected: it cannot restart it now",
                                    now.host, now.caller_id),
                        "host_unreachable");
        case InstancePhase::halting: return is_stopping(now);
        case InstancePhase::resting:
            return refuse(fmt::format("instance {} does not run: it was stopped", now.caller_id),
                          "not_running",
                          fmt::format("Start it: `hostler instance start {}`.", now.caller_id));
        case InstancePhase::stopping:
        case InstancePhase::stopped:
        case InstancePhase::failed: return has_ended(now);
    }
    if (now.adopted) return was_adopted(now);
    TRY(check_project(desk, now.tenant, now.project));
    keep_layer(desk, desk.estate.instances.edit(id));
    begin_run(desk, desk.estate.instances.edit(id), "restarted");
    close_commands(desk, id, now.meta.generation);
    note(desk, id, InstanceEvent::restart, "restarted", "it starts again, in its present place");
    reconcile_instance(desk, id);
    return {};
}

}  // namespace hostler::master

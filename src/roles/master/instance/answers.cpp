#include "roles/master/instance/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ports/engine.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/run/left.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/runs.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

InstanceEvent event_of(const std::string& phase) {
    if (phase == "pulling") return InstanceEvent::pull;
    if (phase == "probing") return InstanceEvent::probe;
    return InstanceEvent::start;
}

void note_start(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const Instance* instance = desk.estate.instances.find(command.subject);
    if (!instance || instance->meta.generation != command.subject_generation) return;
    if (answer.done)
        return note(desk, command.subject, InstanceEvent::ready, "running",
                    std::ranges::any_of(instance->spec.ports, &InstancePort::is_probe)
                        ? "every probe answers"
                        : "its program runs; no port of it is a probe");
    // A restored store has forgotten what the host obeyed of it.
    if (answer.reason == "stale_generation") ++desk.estate.instances.edit(command.subject).meta.generation;
    // Refused as too old or too late, or nobody watches over leases just now: by level, the next look makes
    // another command.
    // The same where it lost the secrets that came with the command: another one brings them.
    if (refused_unread(answer) || answer.reason == "no_supervisor" || answer.reason == "secrets_lost") return;
    if (answer.reason == "lease_ended") {
        begin_anew(desk, command.subject);
        return rest_for_now(desk, command.subject);
    }
    if (answer.reason == "network_failed" && answer.code == "conflict" &&
        move_to_another_subnet(desk, command.subject))
        return;
    if (answer.reason == Engine::layer_missing && begin_without_layer(desk, command.subject)) return;
    if (answer.reason == Engine::address_taken && move_to_another_address(desk, command.subject)) return;
    if (answer.exited) {
        Instance& ran = desk.estate.instances.edit(command.subject);
        ran.exit_code = answer.exit_code;
        if (ran.started_at == 0) ran.started_at = desk.estate.micros();  // It did, some moments ago.
    }
    if (answer.exited && answer.reason == "exited" && ended_well(*instance, answer.exit_code))
        return note_completed(desk, command.subject);
    note(desk, command.subject, InstanceEvent::fail, answer.reason.empty() ? "start_failed" : answer.reason,
         answer.message);
    // A host that could not even write down that it refused would begin a late copy: it is first to obey
    // something newer.
    if (answer.reason == "journal_failed") ++desk.estate.instances.edit(command.subject).meta.generation;
}

// Its run of this generation had not ended within its grace.
void note_killed(Desk& desk, const std::string& id, std::uint64_t generation, std::int64_t after_s) {
    const Instance* instance = desk.estate.instances.find(id);
    if (!instance || after_s <= 0) return;
    const auto of_it = [&](const InstanceRun& run) { return run.generation == generation; };
    if (std::ranges::none_of(instance->runs, of_it) && instance->run_generation == generation)
        keep_run(desk, desk.estate.instances.edit(id),
                 instance->phase == InstancePhase::stopping ? "stopped" : instance->reason);
    const auto found = std::ranges::find_if(instance->runs, of_it);
    if (found == instance->runs.end() || found->killed_after_s != 0) return;
    auto& runs = desk.estate.instances.edit(id).runs;
    std::ranges::find_if(runs, of_it)->killed_after_s = after_s;
    desk.estate.event("instance", id, instance->tenant, "killed",
                      fmt::format("Its program had not ended {} s after it was asked to (SIGTERM), and was "
                                  "killed (SIGKILL).",
                                  after_s));
}

void note_killed(Desk& desk, const std::string& id, const CommandAnswer& answer) {
    if (answer.killed_generation != 0) note_killed(desk, id, answer.killed_generation, answer.killed_after_s);
}

void note_absent(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    if (answer.absent) desk.live.hosts[command.host].missed[command.subject] = reports_to_believe;
}

}  // namespace

void note_start_phase(Desk& desk, const HostCommand& command, const std::string& phase,
                      const std::string& message) {
    const Instance* instance = desk.estate.instances.find(command.subject);
    if (!instance || instance->meta.generation != command.subject_generation) return;
    const InstancePhase before = instance->phase;
    note(desk, command.subject, event_of(phase), phase, message);
    // Progress within a phase is shown, and makes no event.
    if (instance->phase == before && text_of(before) == phase && instance->message != message)
        desk.estate.instances.edit(command.subject).message = message;
}

void note_started(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    note_killed(desk, command.subject, answer);
    note_absent(desk, command, answer);
    // What reports lacked before its container was there says nothing.
    if (answer.done) desk.live.hosts[command.host].missed.erase(command.subject);
    note_start(desk, command, answer);
    reconcile_instance(desk, command.subject);
}

void note_stopped(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    note_killed(desk, command.subject, answer);
    note_absent(desk, command, answer);
    if (!answer.done) return;  // The next sweep stops it again.
    HostLive& seen = desk.live.hosts[command.host];
    seen.workloads.erase(command.subject);
    seen.missed[command.subject] = reports_to_believe;
    reconcile_instance(desk, command.subject);
}

void note_left_stopped(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const std::string instance = left_instance(command.subject);
    note_killed(desk, instance, answer);
    if (answer.done) desk.live.hosts[command.host].layers.erase(instance);
    note_left(desk, command, answer);
}

void note_stopped_if_unused(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    note_killed(desk, command.subject, answer);
    note_unused_stop(desk, command, answer);
}

void note_volume_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    if (!note_volume(desk, command, answer)) return;
    const Volume& volume = desk.estate.volumes.at(command.subject);
    std::vector<std::string> waiting;
    for (const Instance* instance : desk.estate.instances.by().volume.of(volume.id))
        if (instance->phase == InstancePhase::placed && !instance->claim.empty())
            waiting.push_back(instance->id);
    for (const std::string& id : waiting) {
        if (!answer.done)
            note(desk, id, InstanceEvent::fail, "volume_failed",
                 fmt::format("volume {} could not be made: {}", volume.name, answer.message));
        reconcile_instance(desk, id);
    }
}

}  // namespace hostler::master

#include "roles/master/command/commands.h"
#include "ports/engine.h"

#include <fmt/format.h>

#include "roles/master/benchmark/qualification.h"
#include "roles/master/container/containers.h"
#include "roles/master/health/health.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/failover.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/network/subnets.h"
#include "roles/master/stock/images.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

constexpr std::int64_t rest_us = 5'000'000;

void rest(Desk& desk, const std::string& subject) {
    desk.live.rest_until[subject] = desk.estate.micros() + rest_us;
}

// Moves it along its life; true when it got there.
bool move(Desk& desk, const std::string& id, CommandEvent event, std::string message) {
    const auto to = next(command_life, desk.estate.commands.at(id).phase, event);
    if (!to) return false;
    HostCommand& command = desk.estate.commands.edit(id);
    command.phase = *to;
    command.message = std::move(message);
    return true;
}

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
        return rest(desk, command.subject);
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

}  // namespace

void command(Desk& desk, const std::string& host, Verb verb, const std::string& subject,
             std::uint64_t generation, std::string image) {
    HostCommand made{.id = new_id(desk.random, "cmd", 12),
                     .host = host,
                     .verb = verb,
                     .subject = subject,
                     .subject_generation = generation};
    made.image = std::move(image);
    made.created_at = desk.estate.micros();
    // What was unused then may be in use later: a late one is not obeyed.
    constexpr std::chrono::seconds unused_deadline{60};
    const auto deadline = verb == Verb::stop_unused ? unused_deadline : desk.settings.start_deadline;
    made.expires_at = made.created_at + std::chrono::microseconds{deadline}.count();
    desk.estate.commands.add(std::move(made));
}

bool commanded(const Desk& desk, const std::string& subject) {
    return desk.estate.commands.by().subject.has(subject);
}

bool resting(const Desk& desk, const std::string& subject) {
    const auto until = desk.live.rest_until.find(subject);
    return until != desk.live.rest_until.end() && desk.estate.micros() < until->second;
}

bool refused_unread(const CommandAnswer& answer) {
    return !answer.done && (answer.reason == "stale_epoch" || answer.reason == "stale_generation" ||
                            answer.reason == "expired");
}

void close_commands(Desk& desk, const std::string& subject, std::uint64_t below) {
    std::vector<std::string> ids;
    for (const HostCommand* command : desk.estate.commands.by().subject.of(subject))
        if (command->subject_generation < below) ids.push_back(command->id);
    desk.live.rest_until.erase(subject);
    for (const std::string& id : ids) {
        move(desk, id, CommandEvent::expire, "something newer is wanted");
        desk.estate.commands.retire(id);
    }
}

void note_progress(Desk& desk, const std::string& host, const std::string& id, const std::string& phase,
                   const std::string& message) {
    const HostCommand* command = desk.estate.commands.find(id);
    if (!command || command->host != host) return;
    if (!move(desk, id, CommandEvent::begin, message) && command->message != message)
        desk.estate.commands.edit(id).message = message;
    if (command->verb != Verb::start_workload) return;
    const Instance* instance = desk.estate.instances.find(command->subject);
    if (!instance || instance->meta.generation != command->subject_generation) return;
    const InstancePhase before = instance->phase;
    note(desk, command->subject, event_of(phase), phase, message);
    // How far it is within a phase is no news of its own, but shown.
    if (instance->phase == before && text_of(before) == phase && instance->message != message)
        desk.estate.instances.edit(command->subject).message = message;
}

void note_answer(Desk& desk, const std::string& host, const std::string& id, const CommandAnswer& answer) {
    const HostCommand* found = desk.estate.commands.find(id);
    if (!found || found->host != host) return;
    move(desk, id, answer.done ? CommandEvent::succeed : CommandEvent::fail, answer.message);
    const HostCommand command = *found;
    desk.estate.commands.retire(id);
    if (!answer.done) rest(desk, command.subject);
    if (answer.killed_generation != 0)
        note_killed(desk, command.verb == Verb::stop_left ? left_instance(command.subject) : command.subject,
                    answer.killed_generation, answer.killed_after_s);
    if (answer.absent && command.verb != Verb::stop_unused && command.verb != Verb::stop_left)
        desk.live.hosts[host].missed[command.subject] = reports_to_believe;
    switch (command.verb) {
        case Verb::start_workload:
            // What reports lacked before its container was there says nothing.
            if (answer.done) desk.live.hosts[host].missed.erase(command.subject);
            note_start(desk, command, answer);
            reconcile_instance(desk, command.subject);
            break;
        case Verb::stop_workload:
            if (answer.done) {
                auto& seen = desk.live.hosts[host];
                seen.workloads.erase(command.subject);
                seen.missed[command.subject] = reports_to_believe;
                reconcile_instance(desk, command.subject);
            }
            break;  // A stop that failed is tried again at the next look.
        case Verb::stop_left:
            if (answer.done) desk.live.hosts[host].layers.erase(left_instance(command.subject));
            note_left(desk, command, answer);
            break;
        case Verb::stop_unused: note_unused_stop(desk, command, answer); break;
        case Verb::create_volume:
        case Verb::delete_volume: note_volume(desk, command, answer); break;
        case Verb::pull_image: note_pull(desk, command, answer); break;
        case Verb::test_gpu: note_test(desk, command, answer); break;
        case Verb::measure_host: note_measured(desk, command, answer); break;
        case Verb::prove_gpus: note_proving_ended(desk, command, answer); break;
        case Verb::remove_network: note_subnet(desk, command, answer); break;
    }
}

void expire_commands(Desk& desk) {
    // One that was begun in time may yet wait for its program to end, and for its probes.
    const auto slack =
        std::chrono::microseconds{desk.settings.ready_deadline + desk.settings.stop_grace_max}.count();
    std::vector<std::string> ids;
    for (const HostCommand* command :
         desk.estate.commands.by().expires_at.up_to(desk.estate.micros() - slack - 1))
        ids.push_back(command->id);
    for (const std::string& id : ids) {
        const std::string subject = desk.estate.commands.at(id).subject;
        move(desk, id, CommandEvent::expire, "the host did not answer in time");
        desk.estate.commands.retire(id);
        reconcile_instance(desk, subject);
    }
}

void drop_commands(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const HostCommand* command : desk.estate.commands.by().host.of(host)) ids.push_back(command->id);
    for (const std::string& id : ids) {
        move(desk, id, CommandEvent::expire, "the host was removed");
        desk.estate.commands.retire(id);
    }
}

}  // namespace hostler::master

#include "roles/master/command/commands.h"

#include <fmt/format.h>

#include "roles/master/state/feature.h"

namespace hostler::master {

namespace {

constexpr std::int64_t rest_us = 5'000'000;

// Moves it along its life; true when it got there.
bool move(Desk& desk, const std::string& id, CommandEvent event, std::string message) {
    const auto to = next(command_life, desk.estate.commands.at(id).phase, event);
    if (!to) return false;
    HostCommand& command = desk.estate.commands.edit(id);
    command.phase = *to;
    command.message = std::move(message);
    return true;
}

void end(Desk& desk, const std::string& id) {
    const bool passing = desk.estate.commands.at(id).passing;
    passing ? desk.estate.commands.erase(id) : desk.estate.commands.retire(id);
}

}  // namespace

void command(Desk& desk, const std::string& host, Verb verb, const std::string& subject,
             std::uint64_t generation, std::string image, bool passing) {
    HostCommand made{.id = new_id(desk.random, "cmd", 12),
                     .host = host,
                     .verb = verb,
                     .subject = subject,
                     .subject_generation = generation};
    made.image = std::move(image);
    made.passing = passing;
    made.created_at = desk.estate.micros();
    // What was unused then may be in use later: a late one is not obeyed.
    constexpr std::chrono::seconds unused_deadline{60};
    // A step of a driver takes as long as that says.
    constexpr std::chrono::seconds step_max{3600};
    auto deadline = verb == Verb::stop_unused ? unused_deadline : desk.settings.start_deadline;
    if (verb == Verb::node_step) deadline += step_max;
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

void rest_for_now(Desk& desk, const std::string& subject) {
    desk.live.rest_until[subject] = desk.estate.micros() + rest_us;
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
        end(desk, id);
    }
}

void note_progress(Desk& desk, const std::string& host, const std::string& id, const std::string& phase,
                   const std::string& message) {
    const HostCommand* command = desk.estate.commands.find(id);
    if (!command || command->host != host) return;
    if (!move(desk, id, CommandEvent::begin, message) && command->message != message)
        desk.estate.commands.edit(id).message = message;
    if (const VerbRow& row = row_of(command->verb); row.progressed)
        row.progressed(desk, HostCommand{*command}, phase, message);
}

void note_answer(Desk& desk, const std::string& host, const std::string& id, const CommandAnswer& answer) {
    const HostCommand* found = desk.estate.commands.find(id);
    if (!found || found->host != host) return;
    move(desk, id, answer.done ? CommandEvent::succeed : CommandEvent::fail, answer.message);
    const HostCommand command = *found;
    end(desk, id);
    if (!answer.done) rest_for_now(desk, command.subject);
    row_of(command.verb).answered(desk, command, answer);
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
        const HostCommand expired = desk.estate.commands.at(id);
        move(desk, id, CommandEvent::expire, "the host did not answer in time");
        end(desk, id);
        if (const VerbRow& row = row_of(expired.verb); row.expired) row.expired(desk, expired.subject);
    }
}

void drop_commands(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const HostCommand* command : desk.estate.commands.by().host.of(host)) ids.push_back(command->id);
    for (const std::string& id : ids) {
        move(desk, id, CommandEvent::expire, "the host was removed");
        end(desk, id);
    }
}

}  // namespace hostler::master

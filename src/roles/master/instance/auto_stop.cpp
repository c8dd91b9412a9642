#include "roles/master/instance/auto_stop.h"

#include <fmt/format.h>

#include "api/types_instance.h"
#include "roles/master/instance/repair.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/state/due_times.h"

namespace hostler::master {

namespace {

constexpr std::int64_t second = 1'000'000;

std::string token_of(StopRule rule) {
    switch (rule) {
        case StopRule::inactivity: return "unused";
        case StopRule::max_run: return "max_run";
        case StopRule::stop_at: return "stop_time";
    }
    return {};
}

std::string clock_time(std::int64_t micros) {
    return rfc3339(WallTime{std::chrono::microseconds{micros / second * second}});
}

// It is there, and nobody has asked for its end.
bool goes_on(const Instance& instance) {
    return next(instance_life, instance.phase, InstanceEvent::halt).has_value();
}

// Since when its people could have used it, as far as that is ours to say; nullopt: they cannot.
std::optional<std::int64_t> reachable_since(const Desk& desk, const Instance& instance) {
    const auto host = desk.live.hosts.find(instance.host);
    if (host == desk.live.hosts.end()) return std::nullopt;
    if (desk.estate.gateways.all().empty()) return host->second.reachable_since;
    if (desk.live.gateways == 0) return std::nullopt;
    return std::max(host->second.reachable_since, desk.live.gateways_since);
}

void tell(Desk& desk, const std::string& id, const std::optional<NextStop>& stop) {
    const Instance& instance = desk.estate.instances.at(id);
    const std::int64_t now = desk.estate.micros();
    const bool told = instance.told_of_stop != 0;
    // It was used or kept since: the time has moved by more than reports are late.
    const bool moved = stop && stop->at > instance.told_of_stop + (stop->at - stop->notice_at) / 2 + second;
    if (told && (!stop || moved)) desk.estate.instances.edit(id).told_of_stop = 0;
    if (!stop || now < stop->notice_at || now >= stop->at || instance.told_of_stop != 0) return;
    desk.estate.instances.edit(id).told_of_stop = stop->at;
    desk.estate.event(
        "instance", id, instance.tenant, "stops_soon",
        fmt::format("It will stop at {}: {}. `hostler instance keep-alive {}` puts that off.",
                    clock_time(stop->at), reason_of(stop->rule, instance.schedule), instance.caller_id));
}

void stop(Desk& desk, const std::string& id, StopRule rule) {
    const Instance& instance = desk.estate.instances.at(id);
    if (rule != StopRule::inactivity) {
        (void)halt_instance(desk, id, token_of(rule), reason_of(rule, instance.schedule));
        return;
    }
    // Only its host knows what goes on there now.
    if (commanded(desk, id) || resting(desk, id)) return;
    desk.estate.instances.edit(id).unused_stop_sent = true;
    command(desk, instance.host, Verb::stop_unused, id, instance.meta.generation);
}

}  // namespace

std::optional<InstanceUse> use_of(const Desk& desk, const Instance& instance) {
    if (desk.live.seen(instance.host, instance.id) != Seen::alive) return std::nullopt;
    const SeenWorkload& seen = desk.live.hosts.at(instance.host).workloads.at(instance.id);
    if (!seen.unused_ms || seen.generation != instance.run_generation) return std::nullopt;
    return InstanceUse{*seen.unused_ms == 0, seen.heard_at - *seen.unused_ms * 1000, seen.used_by};
}

std::optional<NextStop> next_stop(const Desk& desk, const Instance& instance) {
    if (!goes_on(instance)) return std::nullopt;
    RunFacts facts;
    if (instance.phase == InstancePhase::running) facts.ran_since = instance.ran_since;
    const auto use = use_of(desk, instance);
    const auto reachable = reachable_since(desk, instance);
    if (use && !use->in_use && reachable) {
        facts.unused_since = use->used_at;
        facts.reachable_since = *reachable;
    }
    return next_stop(
        instance.schedule, facts,
        {.notice_s = desk.settings.stop_notice.count(), .grace_s = desk.settings.idle_grace.count()});
}

namespace {

// When the sweep next checks each instance that has an inactivity timeout.
struct UnusedLooks {
    static constexpr bool follows_estate = true;
    Follower<Instance> changed;
    DueTimes<std::int64_t> due;
};

// The inactivity timeout cannot be near before this time: reports until then can only tell of later use.
// nullopt: the instance has no such timeout, or does not run.
std::optional<std::int64_t> next_look(const Desk& desk, const Instance& instance) {
    const StopSchedule& schedule = instance.schedule;
    if (schedule.inactivity_s <= 0 || instance.phase != InstancePhase::running) return std::nullopt;
    constexpr std::int64_t pause = 2 * second;  // Its host has not reported its use yet.
    const auto host = desk.live.hosts.find(instance.host);
    if (host == desk.live.hosts.end()) return desk.estate.micros() + pause;
    const auto seen = host->second.workloads.find(instance.id);
    if (seen == host->second.workloads.end() || !seen->second.unused_ms) return desk.estate.micros() + pause;
    const std::int64_t used_at = seen->second.heard_at - *seen->second.unused_ms * 1000;
    const std::int64_t notice_s =
        std::min<std::int64_t>(desk.settings.stop_notice.count(), schedule.inactivity_s / 4);
    return used_at + (schedule.inactivity_s - notice_s) * second;
}

// Instances whose inactivity timeout may be near; next_stop() decides.
std::set<std::string> perhaps_unused(Desk& desk) {
    auto& looks = desk.live.part<UnusedLooks>();
    const std::int64_t now = desk.estate.micros();
    std::set<std::string> ids = looks.changed.changed(desk.estate.instances);
    ids.merge(looks.due.due(now));
    std::erase_if(ids, [&](const std::string& id) {
        const Instance* instance = desk.estate.instances.find(id);
        const auto next = instance ? next_look(desk, *instance) : std::nullopt;
        if (next)
            looks.due.set(id, *next);
        else
            looks.due.erase(id);
        return !next || *next > now;
    });
    return ids;
}

}  // namespace

void follow_schedules(Desk& desk) {
    const std::chrono::microseconds notice = desk.settings.stop_notice;
    std::set<std::string> ids = perhaps_unused(desk);
    for (const Instance* instance :
         desk.estate.instances.by().stops_at.up_to(desk.estate.micros() + notice.count()))
        ids.insert(instance->id);
    for (const std::string& id : ids) {
        const auto due = next_stop(desk, desk.estate.instances.at(id));
        tell(desk, id, due);
        if (due && due->at <= desk.estate.micros()) stop(desk, id, due->rule);
    }
}

Result<> keep_alive(Desk& desk, const std::string& id, std::chrono::seconds time) {
    const Instance& now = desk.estate.instances.at(id);
    if (!goes_on(now)) {
        Error error{Code::conflict, fmt::format("instance {} does not run", now.caller_id), "not_running"};
        if (now.phase == InstancePhase::resting)
            error.help = fmt::format("Start it: `hostler instance start {}`.", now.caller_id);
        return std::unexpected(std::move(error));
    }
    if (now.unused_stop_sent && commanded(desk, id)) {
        Error error{Code::conflict,
                    fmt::format("instance {} is being stopped just now, unless its host finds it in use",
                                now.caller_id),
                    "instance_stopping"};
        error.help = "Try again in a moment, or start it again when it has stopped.";
        return std::unexpected(std::move(error));
    }
    const std::int64_t until = desk.estate.micros() + std::chrono::microseconds{time}.count();
    TRY(check_kept_until(desk, now, until));
    Instance& kept = desk.estate.instances.edit(id);
    kept.schedule.kept_until = std::max(kept.schedule.kept_until, until);
    kept.told_of_stop = 0;
    desk.estate.event("instance", id, kept.tenant, "kept_alive",
                      fmt::format("No rule stops it before {}.", clock_time(kept.schedule.kept_until)));
    return {};
}

void read_schedule(const Desk& desk, std::optional<std::int64_t> inactivity_s,
                   std::optional<std::int64_t> max_run_s, const std::optional<std::string>& stop_at,
                   StopSchedule& into, std::vector<FieldError>& wrong) {
    if (inactivity_s) into.inactivity_s = *inactivity_s;
    if (max_run_s) into.max_run_s = *max_run_s;
    if (!stop_at) return;
    if (*stop_at == "off") {
        into.stop_at = 0;
        return;
    }
    const auto time = parse_rfc3339(*stop_at);
    if (!time)
        wrong.push_back({"stopAt", time.error().message});
    else if (time->time_since_epoch().count() <= desk.estate.micros())
        wrong.push_back({"stopAt", "is past"});
    else
        into.stop_at = time->time_since_epoch().count();
}

static void change_labels(Desk& desk, const std::string& id, const Labels& wanted) {
    const Instance& now = desk.estate.instances.at(id);
    if (wanted == now.labels) return;
    std::vector<std::string> words;
    for (const auto& [name, value] : wanted) words.push_back(fmt::format("{}={}", name, value));
    desk.estate.instances.edit(id).labels = wanted;
    desk.estate.event(
        "instance", id, now.tenant, "labels_changed",
        fmt::format("Its labels: {}.", words.empty() ? "none" : fmt::to_string(fmt::join(words, ", "))));
}

Result<> update_instance(Desk& desk, const std::string& id, const api::UpdateInstance& request) {
    const Instance& now = desk.estate.instances.at(id);
    if ((is_final(now.phase) && !is_repairable(now)) || now.phase == InstancePhase::stopping)
        return fail(Code::conflict,
                    fmt::format("instance {} has ended: there is nothing to change", now.caller_id),
                    "instance_ended");
    StopSchedule wanted = now.schedule;
    Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
    read_schedule(desk, request.inactivity_timeout_seconds, request.max_run_seconds, request.stop_at, wanted,
                  wrong.fields);
    const Labels labels = with_changes(now.labels, request.labels.value_or(Labels{}));
    if (labels.size() > labels_max)
        wrong.fields.push_back({"labels", fmt::format("an instance has at most {}", labels_max)});
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    TRY(admit_schedule(desk, now, wanted));
    TRY(change_container(desk, id, request));
    change_labels(desk, id, labels);
    if (wanted == now.schedule) return {};
    Instance& changed = desk.estate.instances.edit(id);
    changed.schedule = wanted;
    changed.told_of_stop = 0;
    const auto shown = [](std::int64_t seconds) { return seconds > 0 ? short_time(seconds) : "off"; };
    desk.estate.event(
        "instance", id, changed.tenant, "schedule_changed",
        fmt::format("Inactivity timeout {}, longest run {}, stop at {}.", shown(wanted.inactivity_s),
                    shown(wanted.max_run_s), wanted.stop_at > 0 ? clock_time(wanted.stop_at) : "off"));
    return {};
}

void note_unused_stop(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const Instance* instance = desk.estate.instances.find(command.subject);
    if (!instance || instance->meta.generation != command.subject_generation) return;
    // Its container is gone. A newer command than its start makes sure that none comes after.
    if (answer.done) {
        (void)halt_instance(desk, command.subject, token_of(StopRule::inactivity),
                            reason_of(StopRule::inactivity, instance->schedule));
        return;
    }
    if (answer.reason == "in_use" || answer.reason == "not_running")
        desk.estate.instances.edit(command.subject).unused_stop_sent = false;
}

}  // namespace hostler::master

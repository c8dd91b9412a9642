#include "roles/master/retention.h"

#include <algorithm>

#include "roles/master/shares.h"

namespace hostler::master {

namespace {

template <class T>
void retire(Desk& desk, Table<T>& table, const std::string& id) {
    // The store dates an end by its commit's events.
    desk.estate.event(Kind<T>::name, id, Kind<T>::tenant(table.at(id)), "archived",
                      "It is over; only the record is kept.");
    table.retire(id);
}

template <class T, class Over>
void forget(Desk& desk, Table<T>& table, Over over, bool keep_in_store) {
    std::vector<std::string> ids;
    for (const auto& [id, row] : table.all())
        if (over(row)) ids.push_back(id);
    for (const std::string& id : ids) {
        if (keep_in_store)
            retire(desk, table, id);
        else
            table.erase(id);
    }
}

// Of each tenant the oldest.
void forget_answers_beyond(Desk& desk, std::size_t tenant_max) {
    if (desk.estate.answers.all().size() <= tenant_max) return;
    std::map<std::string, std::vector<const Answer*>> of_tenants;
    for (const auto& [id, answer] : desk.estate.answers.all()) of_tenants[answer.tenant].push_back(&answer);
    for (auto& [tenant, answers] : of_tenants) {
        if (answers.size() <= tenant_max) continue;
        std::ranges::sort(answers, {}, &Answer::expires_at);
        answers.resize(answers.size() - tenant_max);
        std::vector<std::string> ids;
        for (const Answer* answer : answers) ids.push_back(answer->id);
        for (const std::string& id : ids) desk.estate.answers.erase(id);
    }
}

}  // namespace

namespace {

// Instances that left nothing behind on a host, the longest ended first.
std::vector<std::string> ended_instances(const Desk& desk) {
    std::vector<std::pair<std::int64_t, std::string>> ended;
    for (const auto& [id, instance] : desk.estate.instances.all())
        if (is_final(instance.phase) && instance.claim.empty() && instance.left.empty())
            ended.emplace_back(instance.ended_at, id);
    std::ranges::sort(ended);
    const std::int64_t before =
        desk.estate.micros() - std::chrono::microseconds{desk.settings.ended_in_memory}.count();
    std::vector<std::string> over;
    for (const auto& [at, id] : ended)
        if (at <= before || ended.size() - over.size() > desk.settings.ended_in_memory_max)
            over.push_back(id);
    return over;
}

}  // namespace

bool archive_instances(Desk& desk) {
    constexpr std::size_t at_once = 64;  // A few milliseconds of the estate's thread.
    const auto over = ended_instances(desk);
    for (std::size_t i = 0; i < std::min(at_once, over.size()); ++i) {
        const Instance& instance = desk.estate.instances.at(over[i]);
        const std::string name = UsedName::id_of(instance.tenant, instance.caller_id);
        desk.live.archiving.insert(name);
        desk.estate.used_names.add({.id = name, .instance = instance.id});
        desk.estate.used_names.retire(name);
        retire(desk, desk.estate.instances, over[i]);
    }
    return over.size() > at_once;
}

void forget_what_is_over(Desk& desk) {
    constexpr std::int64_t pause_us =
        60'000'000;  // What is kept for a day need not be looked at each second.
    const std::int64_t now = desk.estate.micros();
    forget(desk, desk.estate.shares, [&](const Share& share) { return !is_open(desk, share); }, false);
    forget(
        desk, desk.estate.sign_ins, [&](const SignIn& sign_in) { return sign_in.expires_at <= now; }, false);
    if (now < desk.live.look_for_over_at && now + pause_us >= desk.live.look_for_over_at) return;
    desk.live.look_for_over_at = now + pause_us;
    const std::int64_t kept = std::chrono::microseconds{desk.settings.ended_kept}.count();
    forget(
        desk, desk.estate.operations,
        [&](const LongOperation& operation) {
            return operation.phase != OperationPhase::running && operation.ended_at + kept <= now;
        },
        true);
    forget(
        desk, desk.estate.consolidations,
        [&](const ConsolidationRecord& run) { return is_final(run.phase) && run.ended_at + kept <= now; },
        true);
    forget(
        desk, desk.estate.host_tokens,
        [&](const HostToken& token) {
            return token.expires_at + kept <= now;  // A used one answers its host once more until then.
        },
        true);
    forget(desk, desk.estate.answers, [&](const Answer& answer) { return answer.expires_at <= now; }, false);
    forget_answers_beyond(desk, desk.settings.answers_tenant_max);
}

}  // namespace hostler::master

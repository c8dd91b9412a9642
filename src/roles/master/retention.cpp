#include "roles/master/retention.h"

#include <algorithm>

#include "roles/master/shares.h"

namespace hostler::master {

namespace {

template <class T, class Over>
void forget(Desk& desk, Table<T>& table, Over over, bool keep_in_store) {
    std::vector<std::string> ids;
    for (const auto& [id, row] : table.all())
        if (over(row)) ids.push_back(id);
    for (const std::string& id : ids) {
        if (!keep_in_store) {
            table.erase(id);
            continue;
        }
        // The store dates an end by its commit's events.
        desk.estate.event(Kind<T>::name, id, Kind<T>::tenant(table.at(id)), "archived",
                          "It is over; only the record is kept.");
        table.retire(id);
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

void forget_what_is_over(Desk& desk) {
    const std::int64_t now = desk.estate.micros();
    const std::int64_t kept = std::chrono::microseconds{desk.settings.ended_kept}.count();
    const auto over = [&](const Instance& instance) {
        return is_final(instance.phase) && instance.claim.empty() && instance.left.empty() &&
               instance.ended_at + kept <= now;
    };
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        if (!over(instance)) continue;
        const std::string name = UsedName::id_of(instance.tenant, instance.caller_id);
        desk.estate.used_names.add({.id = name, .instance = id});
        desk.estate.used_names.retire(name);
    }
    forget(desk, desk.estate.instances, over, true);
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
    forget(desk, desk.estate.shares, [&](const Share& share) { return !is_open(desk, share); }, false);
    forget(
        desk, desk.estate.sign_ins, [&](const SignIn& sign_in) { return sign_in.expires_at <= now; }, false);
}

}  // namespace hostler::master

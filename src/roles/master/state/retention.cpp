#include "roles/master/state/retention.h"

#include <algorithm>

namespace hostler::master {

namespace {

template <class T>
void forget(Desk& desk, Table<T>& table, const std::vector<const T*>& over, bool keep_in_store) {
    std::vector<std::string> ids;
    for (const T* row : over) ids.push_back(Kind<T>::id(*row));
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

void forget_what_is_over(Desk& desk) {
    constexpr std::int64_t pause_us =
        60'000'000;  // What is kept for a day need not be looked at each second.
    const std::int64_t now = desk.estate.micros();
    forget(desk, desk.estate.sign_ins, desk.estate.sign_ins.by().expires_at.up_to(now), false);
    if (now < desk.live.look_for_over_at && now + pause_us >= desk.live.look_for_over_at) return;
    desk.live.look_for_over_at = now + pause_us;
    const std::int64_t kept = std::chrono::microseconds{desk.settings.ended_kept}.count();
    forget(desk, desk.estate.operations, desk.estate.operations.by().ended_at.up_to(now - kept), true);
    std::vector<const ConsolidationRecord*> over;
    for (const auto& [id, run] : desk.estate.consolidations.all())
        if (is_final(run.phase) && run.ended_at + kept <= now) over.push_back(&run);
    forget(desk, desk.estate.consolidations, over, true);
    // A used one answers its host once more until then.
    forget(desk, desk.estate.host_tokens, desk.estate.host_tokens.by().expires_at.up_to(now - kept), true);
    forget(desk, desk.estate.answers, desk.estate.answers.by().expires_at.up_to(now), false);
    forget_answers_beyond(desk, desk.settings.answers_tenant_max);
}

}  // namespace hostler::master

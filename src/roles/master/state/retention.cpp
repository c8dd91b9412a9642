#include "roles/master/state/retention.h"

#include <algorithm>

#include "roles/master/share/shares.h"

namespace hostler::master {

namespace {

template <class T>
void retire(Desk& desk, Table<T>& table, const std::string& id) {
    // The store dates an end by its commit's events.
    desk.estate.event(Kind<T>::name, id, Kind<T>::tenant(table.at(id)), "archived",
                      "It is over; only the record is kept.");
    table.retire(id);
}

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

namespace {

// Instances that left nothing behind on a host and that nobody may repair any more, the longest ended first.
std::vector<std::string> ended_instances(const Desk& desk) {
    std::vector<std::pair<std::int64_t, std::string>> ended;
    for (const Instance* instance : desk.estate.instances.by().work.of(InstanceWork::archive))
        ended.emplace_back(instance->ended_at, instance->id);
    std::ranges::sort(ended);
    const auto before = [&](std::chrono::seconds kept) {
        return desk.estate.micros() - std::chrono::microseconds{kept}.count();
    };
    const std::int64_t seen = before(desk.settings.ended_in_memory);
    const std::int64_t repaired = before(desk.settings.ended_kept);
    std::map<std::string_view, std::size_t> repairable;  // By tenant; the newest count.
    std::set<std::string_view> over;
    for (const auto& [at, id] : ended | std::views::reverse) {
        const Instance& instance = desk.estate.instances.at(id);
        if (at > seen) continue;
        if (!is_repairable(instance) || at <= repaired ||
            ++repairable[instance.tenant] > desk.settings.repairable_tenant_max)
            over.insert(id);
    }
    std::size_t stay = ended.size() - over.size();
    std::vector<std::string> ids;
    for (const auto& [at, id] : ended) {
        const bool beyond = !over.contains(id) && stay > desk.settings.ended_in_memory_max;
        if (beyond) --stay;
        if (beyond || over.contains(id)) ids.push_back(id);
    }
    return ids;
}

}  // namespace

// Shares that have expired, and shares of instances that no longer have what was shared.
static std::vector<const Share*> closed_shares(Desk& desk) {
    const auto& by = desk.estate.shares.by();
    std::map<std::string, const Share*> closed;
    const auto look_at = [&](const Share* share) {
        if (share && !is_open(desk, *share)) closed.emplace(share->id, share);
    };
    for (const std::string& id : desk.live.sweep.shares.changed(desk.estate.shares))
        look_at(desk.estate.shares.find(id));
    for (const std::string& id : desk.live.sweep.shared.changed(desk.estate.instances))
        for (const Share* share : by.instance.of(id)) look_at(share);
    for (const Share* share : by.expires_at.up_to(desk.estate.micros())) look_at(share);
    std::vector<const Share*> all;
    for (const auto& [id, share] : closed) all.push_back(share);
    return all;
}

void keep_name(Desk& desk, UsedName name) {
    const std::string id = name.id;
    desk.live.archiving.insert(id);
    desk.estate.used_names.add(std::move(name));
    desk.estate.used_names.retire(id);
}

bool archive_instances(Desk& desk) {
    constexpr std::size_t at_once = 64;  // A few milliseconds of the estate's thread.
    const auto over = ended_instances(desk);
    for (std::size_t i = 0; i < std::min(at_once, over.size()); ++i) {
        const Instance& instance = desk.estate.instances.at(over[i]);
        // Whose name another has by now is answered for by its id.
        if (!instance.name_passed_on)
            keep_name(desk, {.id = UsedName::id_of(instance.tenant, instance.caller_id),
                             .instance = instance.id,
                             .free = instance.deleted});
        retire(desk, desk.estate.instances, over[i]);
    }
    return over.size() > at_once;
}

void forget_what_is_over(Desk& desk) {
    constexpr std::int64_t pause_us =
        60'000'000;  // What is kept for a day need not be looked at each second.
    const std::int64_t now = desk.estate.micros();
    forget(desk, desk.estate.shares, closed_shares(desk), false);
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

#include "domain/alert/plan.h"

#include <algorithm>

namespace hostler::alert {

namespace {

constexpr std::int64_t second = 1'000'000;

const Told* told_of(const Alert& alert, const Receiver& receiver) {
    const auto at = alert.told.find(receiver.id);
    return at == alert.told.end() ? nullptr : &at->second;
}

// It was told to fire, and nobody has said that it is over.
bool owes_end(const Alert& alert, const Receiver& receiver) {
    const Told* told = told_of(alert, receiver);
    return alert.resolved_at != 0 && receiver.tell_resolved && told && !told->resolved;
}

struct Group {
    std::vector<const Alert*> fresh;  // Fire, and were not told;
    std::vector<const Alert*> known;  // fire, and were;
    std::vector<const Alert*> over;   // are over, and that is to be told.
    std::int64_t first = 0;           // When the first of `fresh` began.
    std::int64_t last = 0;            // When this receiver was last told of the group.
};

void add(Group& group, const Alert& alert, const Receiver& receiver) {
    const Told* told = told_of(alert, receiver);
    if (told) group.last = std::max(group.last, told->at);
    if (owes_end(alert, receiver)) return group.over.push_back(&alert);
    if (alert.resolved_at != 0) return;
    if (told) return group.known.push_back(&alert);
    group.first = group.fresh.empty() ? alert.fired_at : std::min(group.first, alert.fired_at);
    group.fresh.push_back(&alert);
}

bool is_due(const Group& group, const Receiver& receiver, std::int64_t now) {
    const bool changed = !group.fresh.empty() || !group.over.empty();
    if (group.last == 0) return changed && now >= group.first + receiver.group_wait_s * second;
    if (changed) return now >= group.last + receiver.group_interval_s * second;
    return !group.known.empty() && now >= group.last + receiver.repeat_s * second;
}

Line line_of(const Alert& alert) {
    return {.alert = alert.id,
            .fingerprint = alert.fingerprint,
            .resolved = alert.resolved_at != 0,
            .labels = alert.labels,
            .summary = alert.summary,
            .runbook = alert.runbook,
            .value = alert.value,
            .fired_at = alert.fired_at,
            .resolved_at = alert.resolved_at};
}

// The changes first: what there is no room for must be what was told before, as far as can be.
Delivery message(const Receiver& receiver, const std::string& name, const Group& group, std::int64_t now) {
    Delivery made{.receiver = receiver.id, .tenant = receiver.tenant, .group = name, .created_at = now};
    for (const auto* part : {&group.over, &group.fresh, &group.known})
        for (const Alert* alert : *part)
            if (made.lines.size() < lines_max) made.lines.push_back(line_of(*alert));
    return made;
}

}  // namespace

bool is_silenced(const std::vector<const Silence*>& all, const std::string& told_tenant, const Labels& labels,
                 std::int64_t now) {
    return std::ranges::any_of(all,
                               [&](const Silence* one) { return silences(*one, told_tenant, labels, now); });
}

std::vector<Delivery> plan(const Board& board, std::int64_t now) {
    std::vector<Delivery> made;
    std::map<std::string, std::vector<const Alert*>> of_tenants;
    for (const Alert* alert : board.alerts) of_tenants[alert->tenant].push_back(alert);
    std::map<std::string, std::vector<const Delivery*>> under_way;
    for (const Delivery* one : board.under_way) under_way[one->receiver].push_back(one);
    for (const auto& [id, receiver] : board.receivers) {
        std::map<std::string, Group> groups;
        for (const Alert* alert : receiver->tenant.empty() ? board.alerts : of_tenants[receiver->tenant])
            if (is_for(*receiver, *alert) &&
                !is_silenced(board.silences, receiver->tenant, alert->labels, now))
                add(groups[group_of(*receiver, *alert)], *alert, *receiver);
        std::size_t waiting = under_way[id].size();
        for (const Delivery* one : under_way[id]) groups.erase(one->group);
        for (const auto& [name, group] : groups) {
            if (waiting >= deliveries_max) break;
            if (!is_due(group, *receiver, now)) continue;
            made.push_back(message(*receiver, name, group, now));
            ++waiting;
        }
    }
    return made;
}

void note(Alert& alert, const Delivery& delivery, const Line& line) {
    Told& told = alert.told[delivery.receiver];
    told.at = delivery.created_at;
    told.resolved = told.resolved || line.resolved;
}

bool is_settled(const Alert& alert, const Board& board, std::int64_t now) {
    return alert.resolved_at != 0 && std::ranges::none_of(alert.told, [&](const auto& row) {
               const auto at = board.receivers.find(row.first);
               return at != board.receivers.end() && is_for(*at->second, alert) &&
                      owes_end(alert, *at->second) &&
                      !is_silenced(board.silences, at->second->tenant, alert.labels, now);
           });
}

}  // namespace hostler::alert

#include "roles/master/alert/alerts.h"
#include "roles/master/alert/book.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/alert/defaults.h"

namespace hostler::master {

namespace {

using alert::Alert;
using alert::Rule;

std::int64_t now_of(const Desk& desk) { return desk.estate.micros(); }

std::size_t count_of(const auto& table, const std::string& tenant) {
    return static_cast<std::size_t>(
        std::ranges::count_if(table.all(), [&](const auto& row) { return row.second.tenant == tenant; }));
}

// Errors: exhausted.
Result<> room_for(const auto& table, const std::string& id, const std::string& tenant, std::size_t most,
                  std::size_t tenant_most, std::string_view what) {
    if (table.find(id)) return {};
    if (table.all().size() >= most)
        return fail(Code::exhausted, fmt::format("there are {} {} already, which is the limit", most, what),
                    "too_many");
    if (count_of(table, tenant) >= tenant_most)
        return fail(Code::exhausted,
                    fmt::format("{} has {} {} already: delete one first",
                                tenant.empty() ? "the operator" : "tenant " + tenant, tenant_most, what),
                    "too_many");
    return {};
}

void resolve(Desk& desk, const std::string& id, std::string_view why) {
    Alert& alert = desk.estate.alerts.edit(id);
    alert.resolved_at = now_of(desk);
    desk.estate.event("alert", id, alert.tenant, "resolved", fmt::format("{}: {}", alert.summary, why));
}

void end_all_of(Desk& desk, const std::string& rule, std::string_view why) {
    std::vector<std::string> ids;
    for (const auto& [id, alert] : desk.estate.alerts.all())
        if (alert.rule == rule && alert.resolved_at == 0) ids.push_back(id);
    for (const std::string& id : ids) resolve(desk, id, why);
    desk.live.part<AlertBook>().looks.erase(rule);
}

// What fires, by fingerprint, of each rule.
using Firing = std::map<std::string, std::map<std::string, std::string>>;

Firing firing_of(const Desk& desk) {
    Firing firing;
    for (const auto& [id, alert] : desk.estate.alerts.all())
        if (alert.resolved_at == 0) firing[alert.rule][alert.fingerprint] = id;
    return firing;
}

// A term begins with what the one before it knew to fire.
alert::RuleState recalled(const Desk& desk, const std::map<std::string, std::string>& firing, Instant now) {
    alert::RuleState state;
    for (const auto& [fingerprint, id] : firing) {
        const Alert& alert = desk.estate.alerts.at(id);
        state.watched[alert.of] = {alert::Phase::firing, now, now, alert.value};
    }
    return state;
}

// By level: alerts are what is watched and told.
void follow(Desk& desk, const Rule& rule, const alert::RuleState& state,
            std::map<std::string, std::string> firing, std::size_t& count) {
    for (const auto& [labels, watched] : state.watched) {
        if (!alert::is_told(watched.phase)) continue;
        const std::string fingerprint = alert::fingerprint(rule.id, labels);
        if (firing.erase(fingerprint) > 0) continue;
        if (count >= alerts_max) {
            ++desk.live.part<AlertBook>().left_out;
            continue;
        }
        Alert alert = alert::begin_firing(rule, labels, watched.value, now_of(desk));
        alert.id = new_id(desk.random, "al");
        desk.estate.event("alert", alert.id, alert.tenant, "fires",
                          fmt::format("{}: {}", rule.name, alert.summary));
        desk.estate.alerts.add(std::move(alert));
        ++count;
    }
    for (const auto& [fingerprint, id] : firing) {
        resolve(desk, id, "it is over");
        --count;
    }
}

alert::Board board_of(const Desk& desk) {
    alert::Board board;
    for (const auto& [id, row] : desk.estate.alerts.all()) board.alerts.push_back(&row);
    for (const auto& [id, row] : desk.estate.alert_receivers.all()) board.receivers[id] = &row;
    for (const auto& [id, row] : desk.estate.alert_silences.all()) board.silences.push_back(&row);
    for (const auto& [id, row] : desk.estate.alert_deliveries.all()) board.under_way.push_back(&row);
    return board;
}

void forget_settled(Desk& desk) {
    const alert::Board board = board_of(desk);
    std::vector<std::string> settled, quiet;
    for (const Alert* alert : board.alerts)
        if (alert::is_settled(*alert, board, now_of(desk))) settled.push_back(alert->id);
    for (const std::string& id : settled) desk.estate.alerts.retire(id);
    for (const alert::Silence* silence : board.silences)
        if (silence->until <= now_of(desk)) quiet.push_back(silence->id);
    for (const std::string& id : quiet) desk.estate.alert_silences.erase(id);
}

}  // namespace

std::vector<Rule> alert_rules(const Desk& desk) {
    std::vector<Rule> all;
    for (const alert::DefaultRule& row : alert::default_rules())
        if (!desk.estate.alert_rules.find(alert::rule_id("", std::string{row.name})))
            all.push_back(alert::rule_of(row));
    for (auto& rule : all) rule.meta.generation = 0;
    for (const auto& [id, rule] : desk.estate.alert_rules.all()) all.push_back(rule);
    return all;
}

std::optional<Rule> find_alert_rule(const Desk& desk, const std::string& id) {
    if (const Rule* rule = desk.estate.alert_rules.find(id)) return *rule;
    for (const alert::DefaultRule& row : alert::default_rules()) {
        if (alert::rule_id("", std::string{row.name}) != id) continue;
        Rule rule = alert::rule_of(row);
        rule.meta.generation = 0;
        return rule;
    }
    return std::nullopt;
}

Result<> put_alert_rule(Desk& desk, Rule rule) {
    TRY(room_for(desk.estate.alert_rules, rule.id, rule.tenant, alert::rules_max, alert::rules_tenant_max,
                 "alert rules"));
    end_all_of(desk, rule.id, "its rule was changed");
    desk.estate.event("alert_rule", rule.id, rule.tenant, "changed",
                      fmt::format("Alert rule {} was set.", rule.name));
    if (const Rule* before = desk.estate.alert_rules.find(rule.id)) {
        rule.created_at = before->created_at;
        rule.meta = before->meta;
        ++rule.meta.generation;
        const std::string id = rule.id;
        desk.estate.alert_rules.edit(id) = std::move(rule);
    } else {
        rule.created_at = now_of(desk);
        desk.estate.alert_rules.add(std::move(rule));
    }
    return {};
}

void delete_alert_rule(Desk& desk, const std::string& id) {
    const Rule& rule = desk.estate.alert_rules.at(id);
    end_all_of(desk, id, "its rule was deleted");
    desk.estate.event("alert_rule", id, rule.tenant, "deleted",
                      fmt::format("Alert rule {} was deleted.", rule.name));
    desk.estate.alert_rules.erase(std::string{id});
}

void look_at_alerts(Desk& desk, const AlertFacts& facts, const AlertAnswers& answers, Instant now) {
    AlertBook& book = desk.live.part<AlertBook>();
    const auto rules = alert_rules(desk);
    Firing firing = firing_of(desk);
    std::size_t count = 0;
    for (const auto& [rule, rows] : firing) count += rows.size();
    book.left_out = 0;
    book.series_failed = facts.series_silent || std::ranges::any_of(answers, [](const auto& row) {
                             return !row.second.samples && may_retry(row.second.samples.error().code);
                         });
    AlertSamples live{desk, facts};
    std::set<std::string> known;
    for (const Rule& rule : rules) {
        known.insert(rule.id);
        if (!rule.enabled) {
            end_all_of(desk, rule.id, "its rule was disabled");
            continue;
        }
        const auto [at, begun] = book.looks.try_emplace(rule.id);
        AlertBook::Look& look = at->second;
        if (begun || look.generation != rule.meta.generation)
            look = {.generation = rule.meta.generation, .state = recalled(desk, firing[rule.id], now)};
        std::vector<alert::Sample> samples;
        if (alert::is_live(rule.metric)) {
            samples = live.of(rule, look.state);
        } else {
            const auto answer = answers.find(rule.id);
            if (answer == answers.end() || answer->second.generation != rule.meta.generation) continue;
            look.error = answer->second.samples ? "" : answer->second.samples.error().message;
            if (!answer->second.samples) continue;
            samples = *answer->second.samples;
        }
        look.at = now_of(desk);
        alert::step(rule, look.state, now, samples);
        book.left_out += look.state.left_out;
        follow(desk, rule, look.state, firing[rule.id], count);
    }
    for (const auto& [rule, rows] : firing)
        if (!known.contains(rule)) end_all_of(desk, rule, "the rule no longer exists");
    std::erase_if(book.looks, [&](const auto& row) { return !known.contains(row.first); });
    forget_settled(desk);
}

Result<> put_alert_receiver(Desk& desk, alert::Receiver receiver) {
    TRY(room_for(desk.estate.alert_receivers, receiver.id, receiver.tenant, alert::receivers_max,
                 alert::receivers_tenant_max, "alert receivers"));
    desk.estate.event("alert_receiver", receiver.id, receiver.tenant, "changed",
                      fmt::format("Alert receiver {} was set.", receiver.name));
    if (const alert::Receiver* before = desk.estate.alert_receivers.find(receiver.id)) {
        receiver.created_at = before->created_at;
        receiver.meta = before->meta;
        ++receiver.meta.generation;
        const std::string id = receiver.id;
        desk.estate.alert_receivers.edit(id) = std::move(receiver);
    } else {
        receiver.created_at = now_of(desk);
        desk.estate.alert_receivers.add(std::move(receiver));
    }
    return {};
}

void delete_alert_receiver(Desk& desk, const std::string& id) {
    const alert::Receiver& receiver = desk.estate.alert_receivers.at(id);
    desk.estate.event("alert_receiver", id, receiver.tenant, "deleted",
                      fmt::format("Alert receiver {} was deleted.", receiver.name));
    std::vector<std::string> waiting, told;
    for (const auto& [delivery, row] : desk.estate.alert_deliveries.all())
        if (row.receiver == id) waiting.push_back(delivery);
    for (const std::string& delivery : waiting) {
        desk.estate.alert_deliveries.erase(delivery);
        desk.live.part<AlertBook>().tries.erase(delivery);
    }
    // One of the same name that comes later is told anew.
    for (const auto& [alert, row] : desk.estate.alerts.all())
        if (row.told.contains(id)) told.push_back(alert);
    for (const std::string& alert : told) desk.estate.alerts.edit(alert).told.erase(id);
    desk.live.part<AlertBook>().contacts.erase(id);
    desk.estate.alert_receivers.erase(std::string{id});
}

Result<const alert::Silence*> add_silence(Desk& desk, alert::Silence silence) {
    TRY(room_for(desk.estate.alert_silences, silence.id, silence.tenant, alert::silences_max,
                 alert::silences_tenant_max, "silences"));
    desk.estate.event(
        "alert_silence", silence.id, silence.tenant, "created",
        fmt::format("Alerts with {} are silenced: {}", fmt::join(silence.matchers, ", "), silence.comment));
    return &desk.estate.alert_silences.add(std::move(silence));
}

void plan_alert_notices(Desk& desk) {
    for (alert::Delivery& made : alert::plan(board_of(desk), now_of(desk))) {
        made.id = new_id(desk.random, "an");
        for (const alert::Line& line : made.lines)
            alert::note(desk.estate.alerts.edit(line.alert), made, line);
        desk.estate.alert_deliveries.add(std::move(made));
    }
}

}  // namespace hostler::master

#include "roles/master/alert/view.h"
#include "roles/master/http/gate.h"

#include "api/types_alert.h"
#include "roles/master/alert/book.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

constexpr int repeat_s = 14'400;
constexpr int repeat_alertmanager_s = 300;  // It forgets what it is not told again.

// The name in "tenant/name".
std::string name_in(const std::string& id) { return id.substr(id.find('/') + 1); }

}  // namespace

api::AlertRule view(const Desk& desk, const alert::Rule& rule) {
    api::AlertRule shown;
    shown.metric = rule.metric;
    shown.threshold = rule.threshold;
    shown.comparison = rule.comparison;
    shown.severity = rule.severity;
    shown.where = rule.where;
    shown.over = rule.over;
    shown.window_seconds = static_cast<int>(rule.window_s);
    shown.across = rule.across;
    shown.by = rule.by;
    shown.for_seconds = static_cast<int>(rule.for_s);
    shown.clear_seconds = static_cast<int>(rule.clear_s);
    shown.missing = rule.missing;
    for (const auto& [label, value] : rule.labels) shown.labels.push_back(label + "=" + value);
    shown.summary = rule.summary;
    shown.runbook = rule.runbook;
    shown.description = rule.help;
    shown.tell_tenants = rule.scope == alert::Scope::tenants;
    shown.disabled = !rule.enabled;
    shown.name = rule.name;
    shown.tenant_id = rule.tenant;
    shown.is_default = rule.meta.generation == 0;
    const auto look = desk.live.part<AlertBook>().looks.find(rule.id);
    if (look == desk.live.part<AlertBook>().looks.end()) return shown;
    for (const auto& [labels, watched] : look->second.state.watched) {
        if (alert::is_told(watched.phase)) ++shown.firing;
        if (watched.phase == alert::Phase::pending) ++shown.pending;
    }
    if (!look->second.error.empty()) shown.error = look->second.error;
    shown.looked_at = wall_if(look->second.at);
    return shown;
}

api::Alert view(const Desk& desk, const alert::Alert& alert, const std::string& looker) {
    api::Alert shown{.id = alert.id,
                     .rule = name_in(alert.rule),
                     .severity = alert.severity,
                     .state = alert.resolved_at == 0 ? api::AlertState::firing : api::AlertState::resolved,
                     .summary = alert.summary,
                     .runbook = alert.runbook,
                     .labels = alert.labels,
                     .value = alert.value,
                     .tenant_id = alert.tenant,
                     .fired_at = wall(alert.fired_at),
                     .resolved_at = wall_if(alert.resolved_at)};
    const std::string& told_tenant = alert.own ? alert.tenant : looker;
    std::vector<const alert::Silence*> silences;
    for (const auto& [id, row] : desk.estate.alert_silences.all()) silences.push_back(&row);
    shown.is_silenced = alert::is_silenced(silences, told_tenant, alert.labels, desk.estate.micros());
    if (const auto look = desk.live.part<AlertBook>().looks.find(alert.rule);
        look != desk.live.part<AlertBook>().looks.end() && alert.resolved_at == 0)
        if (const auto row = look->second.state.watched.find(alert.of);
            row != look->second.state.watched.end())
            shown.value = row->second.value;
    for (const auto& [id, told] : alert.told)
        if (const alert::Receiver* receiver = desk.estate.alert_receivers.find(id);
            receiver && (looker.empty() || receiver->tenant == looker))
            shown.told.push_back(receiver->name);
    return shown;
}

api::AlertSilence view(const alert::Silence& silence) {
    return {.id = silence.id,
            .tenant_id = silence.tenant,
            .matchers = silence.matchers,
            .comment = silence.comment,
            .made_by = silence.made_by,
            .created_at = wall(silence.created_at),
            .expires_at = wall(silence.until)};
}

api::AlertReceiver view(const Desk& desk, const alert::Receiver& receiver) {
    api::AlertReceiver shown;
    shown.type = receiver.kind;
    shown.url = receiver.url;
    shown.user = receiver.user;
    shown.from = receiver.from;
    shown.to = receiver.to;
    shown.plain = receiver.plain;
    shown.severity = receiver.least;
    shown.where = receiver.where;
    shown.group_by = receiver.group_by;
    shown.group_wait_seconds = static_cast<int>(receiver.group_wait_s);
    shown.group_interval_seconds = static_cast<int>(receiver.group_interval_s);
    shown.repeat_seconds = static_cast<int>(receiver.repeat_s);
    shown.firing_only = !receiver.tell_resolved;
    shown.name = receiver.name;
    shown.tenant_id = receiver.tenant;
    shown.has_secret = !receiver.secret.empty();
    for (const auto& [id, row] : desk.estate.alert_deliveries.all())
        if (row.receiver == receiver.id) ++shown.waiting;
    const auto contact = desk.live.part<AlertBook>().contacts.find(receiver.id);
    if (contact == desk.live.part<AlertBook>().contacts.end()) return shown;
    shown.delivered = static_cast<int>(contact->second.delivered);
    shown.failed = static_cast<int>(contact->second.failed);
    if (!contact->second.error.empty()) shown.last_error = contact->second.error;
    shown.delivered_at = wall_if(contact->second.delivered_at);
    return shown;
}

alert::Rule rule_of(const api::AlertRuleSpec& spec, const std::string& name, const std::string& tenant) {
    alert::Rule rule{.id = alert::rule_id(tenant, name), .name = name, .tenant = tenant};
    if (spec.tell_tenants) rule.scope = alert::Scope::tenants;
    rule.severity = spec.severity;
    rule.help = spec.description;
    rule.enabled = !spec.disabled;
    rule.metric = spec.metric;
    rule.where = spec.where;
    rule.over = spec.over;
    rule.window_s = spec.window_seconds;
    rule.across = spec.across;
    rule.by = spec.by;
    rule.comparison = spec.comparison;
    rule.threshold = spec.threshold;
    rule.for_s = spec.for_seconds;
    rule.clear_s = spec.clear_seconds;
    rule.missing = spec.missing;
    for (const std::string& text : spec.labels) {
        const auto equals = text.find('=');
        rule.labels[text.substr(0, equals)] = text.substr(equals + 1);
    }
    rule.summary = spec.summary;
    rule.runbook = spec.runbook;
    return rule;
}

alert::Receiver receiver_of(const api::AlertReceiverSpec& spec, const std::string& name,
                            const std::string& tenant) {
    alert::Receiver receiver{.id = alert::receiver_id(tenant, name), .name = name, .tenant = tenant};
    receiver.kind = spec.type;
    receiver.url = spec.url;
    receiver.user = spec.user;
    receiver.from = spec.from;
    receiver.to = spec.to;
    receiver.plain = spec.plain;
    receiver.least = spec.severity;
    receiver.where = spec.where;
    receiver.group_by = spec.group_by;
    receiver.group_wait_s = spec.group_wait_seconds;
    receiver.group_interval_s = spec.group_interval_seconds;
    receiver.repeat_s = spec.repeat_seconds.value_or(
        spec.type == alert::ReceiverKind::alertmanager ? repeat_alertmanager_s : repeat_s);
    receiver.tell_resolved = !spec.firing_only;
    return receiver;
}

std::string alert_owner(const api::Call& call, const std::optional<std::string>& named) {
    return tenant_meant(call, named).value_or("");
}

}  // namespace hostler::master

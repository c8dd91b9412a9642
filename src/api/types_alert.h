// Alerts: the rules that make them, silences, and who is told.
#pragma once

#include <map>

#include "api/types_common.h"
#include "domain/alert/plan.h"

namespace hostler::api {

template <std::size_t n, std::size_t m>
constexpr std::array<Field, n + m> joined(const std::array<Field, n>& first,
                                          const std::array<Field, m>& second) {
    std::array<Field, n + m> all{};
    std::ranges::copy(first, all.begin());
    std::ranges::copy(second, all.begin() + n);
    return all;
}

// clang-format off

// ---- rules

struct AlertRuleSpec {
    std::string metric;
    double threshold = 0;
    alert::Comparison comparison = alert::Comparison::above;
    alert::Severity severity = alert::Severity::warning;
    std::vector<std::string> where{};
    alert::Over over = alert::Over::last;
    int window_seconds = 60;
    alert::Across across = alert::Across::none;
    std::vector<std::string> by{};
    int for_seconds = 60;
    int clear_seconds = 120;
    alert::Missing missing = alert::Missing::resolve;
    std::vector<std::string> labels{};
    std::string summary = "{rule}: {value}";
    std::string runbook;
    std::string description;
    bool tell_tenants = false;
    bool disabled = false;
};
BOOST_DESCRIBE_STRUCT(AlertRuleSpec, (),
                      (metric, threshold, comparison, severity, where, over, window_seconds, across, by,
                       for_seconds, clear_seconds, missing, labels, summary, runbook, description,
                       tell_tenants, disabled))
template <>
inline constexpr auto fields<AlertRuleSpec> = std::to_array<Field>({
    {.member = "metric", .help = "Metric to watch: of the series or of the moment (docs/operate/alerts.md).",
     .example = "temperature_celsius", .min = 1, .max = 64},
    {.member = "threshold", .help = "Threshold of the alert, in the metric's unit.", .example = "85"},
    {.member = "comparison", .help = "Comparison of the value with the threshold.", .example = "above",
     .absent = Absent::fills},
    {.member = "severity", .help = "Severity.", .example = "warning", .absent = Absent::fills},
    {.member = "where", .help = "Only devices with these labels, as zone=lon|nj or tenant!=acme.",
     .example = R"(["zone=lon"])", .max = 16, .absent = Absent::fills},
    {.member = "over", .help = "Function over the samples of the window, for a metric of the series.",
     .example = "avg", .absent = Absent::fills},
    {.member = "window_seconds", .help = "Length of the window.", .example = "300", .min = 10,
     .max = 86400, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "across", .help = "Function over the devices of a group; none: each device alone.",
     .example = "none", .absent = Absent::fills},
    {.member = "by", .help = "Labels that define the groups.", .example = R"(["zone"])", .max = 8,
     .absent = Absent::fills},
    {.member = "for_seconds", .help = "Time the breach must last before the alert fires.", .example = "60", .min = 0,
     .max = 86400, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "clear_seconds", .help = "Time the breach must be over before the alert ends. A breach within it "
                                        "continues the same alert.",
     .example = "120", .min = 0, .max = 86400, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "missing", .help = "Policy when the samples of a device stop, for a day at most.",
     .example = "resolve", .absent = Absent::fills},
    {.member = "labels", .help = "Further labels of its alerts.", .example = R"(["team=ml"])", .max = 16,
     .absent = Absent::fills},
    {.member = "summary", .help = "A sentence, with {label}, {value}, {threshold} and {rule} filled in.",
     .example = "GPU {gpu} has {value} °C", .min = 1, .max = 512, .form = &forms::one_line,
     .absent = Absent::fills},
    {.member = "runbook", .help = "Advice for the alert, filled in the same way.", .max = 2048,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "description", .help = "Purpose of the rule.", .max = 512, .form = &forms::one_line,
     .absent = Absent::fills},
    {.member = "tell_tenants", .help = "In an operator's rule: the tenant in label tenant sees the alert and is "
                                       "notified, too.",
     .absent = Absent::fills},
    {.member = "disabled", .help = "Keep the rule, but do not evaluate it.", .absent = Absent::fills},
});

struct CreateAlertRule : AlertRuleSpec {
    std::string name;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateAlertRule, (AlertRuleSpec), (name, tenant_id))
template <>
inline constexpr auto fields<CreateAlertRule> = joined(fields<AlertRuleSpec>, std::to_array<Field>({
    {.member = "name", .help = "Its name, unique in the tenant. The name of a default rule replaces that rule.",
     .example = "too-hot", .form = &forms::label},
    {.member = "tenant_id", .help = "Tenant that owns the rule. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
}));
template <>
struct Rules<CreateAlertRule> {
    static void check(const CreateAlertRule& request, Wrong& wrong);
};

struct ReplaceAlertRule : AlertRuleSpec {
    std::string alert_rule;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ReplaceAlertRule, (AlertRuleSpec), (alert_rule, tenant_id))
template <>
inline constexpr auto fields<ReplaceAlertRule> = joined(fields<AlertRuleSpec>, std::to_array<Field>({
    {.member = "alert_rule", .help = "The rule's name.", .example = "too-hot", .form = &forms::label},
    {.member = "tenant_id", .help = "Tenant that owns the rule. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
}));
template <>
struct Rules<ReplaceAlertRule> {
    static void check(const ReplaceAlertRule& request, Wrong& wrong);
};

// The answer of a dry run.
struct WouldFire {
    std::optional<int> times{};
    std::optional<int> label_sets{};
    int days = 7;
    std::optional<int> step_seconds{};
    std::optional<std::string> message{};
};
BOOST_DESCRIBE_STRUCT(WouldFire, (), (times, label_sets, days, step_seconds, message))
template <>
inline constexpr auto fields<WouldFire> = std::to_array<Field>({
    {.member = "times", .help = "How often the rule would have fired over the stored series. Absent: unknown.", .example = "3"},
    {.member = "label_sets", .help = "Devices or groups for which it would have.", .example = "2"},
    {.member = "days", .help = "Number of days, up to now, that were looked at.", .example = "7"},
    {.member = "step_seconds", .help = "Seconds between two looks; what is shorter may be missed.", .example = "60",
     .unit = Unit::seconds},
    {.member = "message", .help = "Why the number is unknown, or not all of it."},
});

struct AlertRule : AlertRuleSpec {
    std::string name;
    std::string tenant_id;
    bool is_default = false;
    int firing = 0;
    int pending = 0;
    std::optional<std::string> error{};
    std::optional<WallTime> looked_at{};
    std::optional<WouldFire> would_fire{};
};
BOOST_DESCRIBE_STRUCT(AlertRule, (AlertRuleSpec), (name, tenant_id, is_default, firing, pending, error, looked_at,
                                                   would_fire))
template <>
inline constexpr auto fields<AlertRule> = joined(fields<AlertRuleSpec>, std::to_array<Field>({
    {.member = "name", .help = "Its name.", .example = "too-hot"},
    {.member = "tenant_id", .help = "Tenant that owns the rule; empty: the operator.", .example = "acme"},
    {.member = "is_default", .help = "It is a default rule that has not been replaced."},
    {.member = "firing", .help = "Number of its firing alerts.", .example = "2"},
    {.member = "pending", .help = "Number of breaches that have not lasted long enough yet.", .example = "1"},
    {.member = "error", .help = "Error of the last evaluation."},
    {.member = "looked_at", .help = "Time of the last evaluation."},
    {.member = "would_fire", .help = "Of a dry run: how often it would have fired in the last days."},
}));

struct NameAlertRule {
    std::string alert_rule;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameAlertRule, (), (alert_rule, tenant_id))
template <>
inline constexpr auto fields<NameAlertRule> = std::to_array<Field>({
    {.member = "alert_rule", .help = "The rule's name.", .example = "too-hot", .form = &forms::label},
    {.member = "tenant_id", .help = "Tenant that owns the rule. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
});

struct ListAlertRules {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListAlertRules, (), (tenant_id))
template <>
inline constexpr auto fields<ListAlertRules> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
});

// ---- alerts

enum class AlertState { firing, resolved };
BOOST_DESCRIBE_ENUM(AlertState, firing, resolved)

struct Alert {
    std::string id;
    std::string rule;
    alert::Severity severity = alert::Severity::warning;
    AlertState state = AlertState::firing;
    bool is_silenced = false;
    std::string summary;
    std::string runbook;
    std::map<std::string, std::string> labels;
    double value = 0;
    std::string tenant_id;
    WallTime fired_at;
    std::optional<WallTime> resolved_at{};
    std::vector<std::string> told;
};
BOOST_DESCRIBE_STRUCT(Alert, (), (id, rule, severity, state, is_silenced, summary, runbook, labels, value, tenant_id,
                                  fired_at, resolved_at, told))
template <>
inline constexpr auto fields<Alert> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "al-7k2m9x4q1z"},
    {.member = "rule", .help = "The rule that made it.", .example = "gpu-hot"},
    {.member = "severity", .help = "Severity.", .example = "critical"},
    {.member = "state", .help = "Whether it fires or has ended."},
    {.member = "is_silenced", .help = "Its notifications are silenced now."},
    {.member = "summary", .help = "The problem in one sentence."},
    {.member = "runbook", .help = "Advice."},
    {.member = "labels", .help = "Labels of the affected device or object."},
    {.member = "value", .help = "Last measured value; of an ended alert the value at its start.", .example = "91"},
    {.member = "tenant_id", .help = "Affected tenant; empty: the operator alone.", .example = "acme"},
    {.member = "fired_at", .help = "When it began to fire."},
    {.member = "resolved_at", .help = "When it ended. It stays in the list until every notified receiver knows."},
    {.member = "told", .help = "Receivers that were notified."},
});

struct ListAlerts {
    std::optional<std::string> tenant_id{};
    std::optional<alert::Severity> severity{};
    std::optional<std::string> rule{};
};
BOOST_DESCRIBE_STRUCT(ListAlerts, (), (tenant_id, severity, rule))
template <>
inline constexpr auto fields<ListAlerts> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only alerts of this tenant.", .example = "acme", .form = &forms::id},
    {.member = "severity", .help = "Only alerts of this severity or a higher one."},
    {.member = "rule", .help = "Only alerts of this rule.", .example = "gpu-hot", .form = &forms::label},
});

struct NameAlert {
    std::string alert;
};
BOOST_DESCRIBE_STRUCT(NameAlert, (), (alert))
template <>
inline constexpr auto fields<NameAlert> = std::to_array<Field>({
    {.member = "alert", .help = "The alert's id.", .example = "al-7k2m9x4q1z", .min = 1, .max = 64},
});

// ---- silences

struct AlertSilence {
    std::string id;
    std::string tenant_id;
    std::vector<std::string> matchers;
    std::string comment;
    std::string made_by;
    WallTime created_at;
    WallTime expires_at;
};
BOOST_DESCRIBE_STRUCT(AlertSilence, (), (id, tenant_id, matchers, comment, made_by, created_at, expires_at))
template <>
inline constexpr auto fields<AlertSilence> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "si-4t1b9r7m2k"},
    {.member = "tenant_id", .help = "Tenant with the silenced receivers; empty: the operator.", .example = "acme"},
    {.member = "matchers", .help = "Labels of the silenced alerts; all must match."},
    {.member = "comment", .help = "Why.", .example = "cooling is being serviced"},
    {.member = "made_by", .help = "Creator.", .example = "key/k-9r4t1b"},
    {.member = "created_at", .help = "When it was made."},
    {.member = "expires_at", .help = "When it ends."},
});

struct CreateAlertSilence {
    std::vector<std::string> matchers;
    std::string comment;
    int for_seconds = 3600;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateAlertSilence, (), (matchers, comment, for_seconds, tenant_id))
template <>
inline constexpr auto fields<CreateAlertSilence> = std::to_array<Field>({
    {.member = "matchers", .help = "Labels of the silenced alerts; all must match: alertname=gpu-hot, host=h-1|h-2.",
     .example = R"(["alertname=gpu-hot"])", .min = 1, .max = 16},
    {.member = "comment", .help = "Why.", .example = "cooling is being serviced", .min = 1, .max = 512,
     .form = &forms::one_line},
    {.member = "for_seconds", .help = "How long.", .example = "7200", .min = 60, .max = 30 * 86400,
     .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "tenant_id", .help = "Tenant with the silenced receivers. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
});
template <>
struct Rules<CreateAlertSilence> {
    static void check(const CreateAlertSilence& request, Wrong& wrong);
};

struct ListAlertSilences {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListAlertSilences, (), (tenant_id))
template <>
inline constexpr auto fields<ListAlertSilences> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
});

struct NameAlertSilence {
    std::string silence;
};
BOOST_DESCRIBE_STRUCT(NameAlertSilence, (), (silence))
template <>
inline constexpr auto fields<NameAlertSilence> = std::to_array<Field>({
    {.member = "silence", .help = "The silence's id.", .example = "si-4t1b9r7m2k", .min = 1, .max = 64},
});

// ---- receivers

struct AlertReceiverSpec {
    alert::ReceiverKind type = alert::ReceiverKind::webhook;
    std::string url;
    std::string user;
    std::string from;
    std::vector<std::string> to{};
    bool plain = false;
    alert::Severity severity = alert::Severity::info;
    std::vector<std::string> where{};
    std::vector<std::string> group_by{"alertname"};
    int group_wait_seconds = 30;
    int group_interval_seconds = 300;
    std::optional<int> repeat_seconds{};
    bool firing_only = false;
};
BOOST_DESCRIBE_STRUCT(AlertReceiverSpec, (),
                      (type, url, user, from, to, plain, severity, where, group_by, group_wait_seconds,
                       group_interval_seconds, repeat_seconds, firing_only))
template <>
inline constexpr auto fields<AlertReceiverSpec> = std::to_array<Field>({
    {.member = "type", .help = "Type of receiver.", .example = "webhook"},
    {.member = "url", .help = "Address: https://HOST/PATH, of an Alertmanager without /api/v2; smtp://HOST:587 or "
                              "smtps://HOST:465.",
     .example = "https://hooks.example.com/alerts", .min = 1, .max = 2048, .form = &forms::one_line},
    {.member = "user", .help = "E-mail: user name for the server; without it there is no login.", .max = 256,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "from", .help = "E-mail: the sender's address.", .example = "alerts@example.com", .max = 256,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "to", .help = "E-mail: addresses of the recipients.", .example = R"(["ops@example.com"])", .max = 100,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "plain", .help = "E-mail: without TLS, and so without a login.", .absent = Absent::fills},
    {.member = "severity", .help = "Lowest severity to send.", .example = "warning", .absent = Absent::fills},
    {.member = "where", .help = "Only alerts with these labels, as zone=lon|nj or tenant!=acme.",
     .example = R"(["zone=lon"])", .max = 16, .absent = Absent::fills},
    {.member = "group_by", .help = "Labels that group several alerts into one message.", .example = R"(["alertname"])",
     .max = 8, .absent = Absent::fills},
    {.member = "group_wait_seconds", .help = "How long the first alert of a group waits for others.",
     .example = "30", .min = 0, .max = 3600, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "group_interval_seconds", .help = "Minimum time between two messages of a group.",
     .example = "300", .min = 0, .max = 86400, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "repeat_seconds", .help = "Time after which a firing alert is sent again. Default: 4h, to an "
                                         "Alertmanager 5m.",
     .example = "14400", .min = 60, .max = 7 * 86400, .unit = Unit::seconds},
    {.member = "firing_only", .help = "Send no message when an alert ends.", .absent = Absent::fills},
});

struct CreateAlertReceiver : AlertReceiverSpec {
    std::string name;
    std::optional<std::string> secret{};
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateAlertReceiver, (AlertReceiverSpec), (name, secret, tenant_id))
template <>
inline constexpr auto fields<CreateAlertReceiver> = joined(fields<AlertReceiverSpec>, std::to_array<Field>({
    {.member = "name", .help = "Its name, unique in the tenant.", .example = "on-call", .form = &forms::label},
    {.member = "secret", .help = "Webhook: key of the signature. Alertmanager: bearer token. E-mail: password. Never shown again.",
     .min = 1, .max = 1024, .form = &forms::one_line},
    {.member = "tenant_id", .help = "Tenant with the alerts to send. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
}));
template <>
struct Rules<CreateAlertReceiver> {
    static void check(const CreateAlertReceiver& request, Wrong& wrong);
};

struct ReplaceAlertReceiver : AlertReceiverSpec {
    std::string receiver;
    std::optional<std::string> secret{};
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ReplaceAlertReceiver, (AlertReceiverSpec), (receiver, secret, tenant_id))
template <>
inline constexpr auto fields<ReplaceAlertReceiver> = joined(fields<AlertReceiverSpec>, std::to_array<Field>({
    {.member = "receiver", .help = "The receiver's name.", .example = "on-call", .form = &forms::label},
    {.member = "secret", .help = "As at creation. Default: the stored one, if type, url and user stay.",
     .min = 1, .max = 1024, .form = &forms::one_line},
    {.member = "tenant_id", .help = "Owning tenant. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
}));
template <>
struct Rules<ReplaceAlertReceiver> {
    static void check(const ReplaceAlertReceiver& request, Wrong& wrong);
};

struct AlertReceiver : AlertReceiverSpec {
    std::string name;
    std::string tenant_id;
    bool has_secret = false;
    int waiting = 0;
    int delivered = 0;
    int failed = 0;
    std::optional<std::string> last_error{};
    std::optional<WallTime> delivered_at{};
};
BOOST_DESCRIBE_STRUCT(AlertReceiver, (AlertReceiverSpec),
                      (name, tenant_id, has_secret, waiting, delivered, failed, last_error, delivered_at))
template <>
inline constexpr auto fields<AlertReceiver> = joined(fields<AlertReceiverSpec>, std::to_array<Field>({
    {.member = "name", .help = "Its name.", .example = "on-call"},
    {.member = "tenant_id", .help = "Tenant with the alerts to send; empty: the operator.", .example = "acme"},
    {.member = "has_secret", .help = "It has a secret, which is not shown."},
    {.member = "waiting", .help = "Messages that wait for delivery.", .example = "0"},
    {.member = "delivered", .help = "Messages delivered since this master leads.", .example = "12"},
    {.member = "failed", .help = "Attempts that failed since this master leads.", .example = "1"},
    {.member = "last_error", .help = "Error of the last failed attempt."},
    {.member = "delivered_at", .help = "Time of the last delivery."},
}));

struct NameAlertReceiver {
    std::string receiver;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameAlertReceiver, (), (receiver, tenant_id))
template <>
inline constexpr auto fields<NameAlertReceiver> = std::to_array<Field>({
    {.member = "receiver", .help = "The receiver's name.", .example = "on-call", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant. Default: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
});

struct ListAlertReceivers {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListAlertReceivers, (), (tenant_id))
template <>
inline constexpr auto fields<ListAlertReceivers> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
});

struct TestedAlertReceiver {
    bool delivered = false;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(TestedAlertReceiver, (), (delivered, message))
template <>
inline constexpr auto fields<TestedAlertReceiver> = std::to_array<Field>({
    {.member = "delivered", .help = "The test message was delivered."},
    {.member = "message", .help = "Result in words.", .example = "it answered with status 503"},
});

}  // namespace hostler::api

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_alert.h"
#include "domain/alert/defaults.h"
#include "domain/inventory/metrics.h"

namespace hostler::api {

namespace {

std::string wrong_match(const std::string& text) {
    const auto match = alert::parse_match(text);
    return match ? "" : match.error().message;
}

std::string wrong_name(const std::string& text) {
    return wrong_match(text + "=").empty() && text.find_first_of("!=") == text.npos
               ? ""
               : "must be letters, digits and '_', at most 63";
}

std::string wrong_label(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == text.npos || !wrong_name(text.substr(0, equals)).empty())
        return "must be LABEL=VALUE, the label letters, digits and '_'";
    return forms::one_line.check(text);
}

void check_each(const std::vector<std::string>& texts, const char* field,
                std::string (*check)(const std::string&), Wrong& wrong) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto what =
            texts[i].size() > 256 ? std::string{"must be at most 256 characters long"} : check(texts[i]);
        if (!what.empty()) wrong.push_back({fmt::format("{}[{}]", field, i), std::move(what)});
    }
}

// Alerts are of devices: one whose pod changes would end and begin again with each pod.
std::string wrong_of_rule(const std::string& text) {
    const auto match = alert::parse_match(text);
    if (!match) return match.error().message;
    const bool pods = match->label == "namespace" || match->label == "pod" || match->label == "container";
    return pods ? fmt::format("rules do not know the label {}: take cluster or node", match->label) : "";
}

std::string wrong_group(const std::string& text) {
    const std::string wrong = wrong_name(text);
    return wrong.empty() ? wrong_of_rule(text + "=") : wrong;
}

bool is_measured(const std::string& metric) {
    for (const auto& names : {metric_names<GpuSample>(), metric_names<HostSample>()})
        if (std::ranges::count(names, metric) > 0) return true;
    return false;
}

void check_spec(const AlertRuleSpec& spec, Wrong& wrong) {
    check_each(spec.where, "where", wrong_of_rule, wrong);
    check_each(spec.by, "by", wrong_group, wrong);
    check_each(spec.labels, "labels", wrong_label, wrong);
    const bool live = alert::is_live(spec.metric);
    if (!live && !is_measured(spec.metric)) wrong.push_back({"metric", "there is no such metric"});
    if (live && spec.over != alert::Over::last)
        wrong.push_back({"over", "must be last: a metric of the moment has one sample"});
    if (!spec.by.empty() && spec.across == alert::Across::none)
        wrong.push_back({"by", "makes groups for across: say what they come to"});
}

void check_spec(const AlertReceiverSpec& spec, bool has_secret, Wrong& wrong) {
    check_each(spec.where, "where", wrong_match, wrong);
    check_each(spec.group_by, "groupBy", wrong_name, wrong);
    const bool mail = spec.type == alert::ReceiverKind::email;
    const std::string_view url = spec.url;
    const bool fits = mail ? url.starts_with("smtp://") || url.starts_with("smtps://")
                           : url.starts_with("https://") || url.starts_with("http://");
    if (!fits)
        wrong.push_back({"url", mail ? "must be smtp://HOST:PORT or smtps://HOST:PORT"
                                     : "must be an https:// or http:// address"});
    if (mail && spec.from.empty()) wrong.push_back({"from", "is required for e-mail"});
    if (mail && spec.to.empty()) wrong.push_back({"to", "is required for e-mail"});
    if (!mail && !spec.from.empty()) wrong.push_back({"from", "is for e-mail alone"});
    if (!mail && !spec.to.empty()) wrong.push_back({"to", "is for e-mail alone"});
    if (!mail && !spec.user.empty()) wrong.push_back({"user", "is for e-mail alone"});
    if (!mail && spec.plain) wrong.push_back({"plain", "is for e-mail alone"});
    if (spec.plain && (has_secret || !spec.user.empty())) wrong.push_back({"plain", "a login needs TLS"});
}

}  // namespace

void Rules<CreateAlertRule>::check(const CreateAlertRule& request, Wrong& wrong) {
    check_spec(request, wrong);
}
void Rules<ReplaceAlertRule>::check(const ReplaceAlertRule& request, Wrong& wrong) {
    check_spec(request, wrong);
}
void Rules<CreateAlertSilence>::check(const CreateAlertSilence& request, Wrong& wrong) {
    check_each(request.matchers, "matchers", wrong_match, wrong);
}
void Rules<CreateAlertReceiver>::check(const CreateAlertReceiver& request, Wrong& wrong) {
    check_spec(request, request.secret.has_value(), wrong);
}
void Rules<ReplaceAlertReceiver>::check(const ReplaceAlertReceiver& request, Wrong& wrong) {
    check_spec(request, request.secret.has_value(), wrong);
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::CreateAlertRule)
HOSTLER_JSON(hostler::api::ReplaceAlertRule)
HOSTLER_JSON(hostler::api::WouldFire)
HOSTLER_JSON(hostler::api::AlertRule)
HOSTLER_JSON(hostler::api::NameAlertRule)
HOSTLER_JSON(hostler::api::ListAlertRules)
HOSTLER_JSON(hostler::api::List<hostler::api::AlertRule>)
HOSTLER_JSON(hostler::api::Alert)
HOSTLER_JSON(hostler::api::ListAlerts)
HOSTLER_JSON(hostler::api::NameAlert)
HOSTLER_JSON(hostler::api::List<hostler::api::Alert>)
HOSTLER_JSON(hostler::api::AlertSilence)
HOSTLER_JSON(hostler::api::CreateAlertSilence)
HOSTLER_JSON(hostler::api::ListAlertSilences)
HOSTLER_JSON(hostler::api::NameAlertSilence)
HOSTLER_JSON(hostler::api::List<hostler::api::AlertSilence>)
HOSTLER_JSON(hostler::api::CreateAlertReceiver)
HOSTLER_JSON(hostler::api::ReplaceAlertReceiver)
HOSTLER_JSON(hostler::api::AlertReceiver)
HOSTLER_JSON(hostler::api::NameAlertReceiver)
HOSTLER_JSON(hostler::api::ListAlertReceivers)
HOSTLER_JSON(hostler::api::List<hostler::api::AlertReceiver>)
HOSTLER_JSON(hostler::api::TestedAlertReceiver)

namespace hostler::api {

ApiArea alert_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_alerts,
        &get_alert,
        &create_alert_rule,
        &replace_alert_rule,
        &list_alert_rules,
        &get_alert_rule,
        &delete_alert_rule,
        &create_alert_silence,
        &list_alert_silences,
        &delete_alert_silence,
        &create_alert_receiver,
        &replace_alert_receiver,
        &list_alert_receivers,
        &get_alert_receiver,
        &delete_alert_receiver,
        &test_alert_receiver,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"alert", "Problems that need attention now."},
        {"alert rule", "What makes alerts."},
        {"alert silence", "Alerts without notifications for a while."},
        {"alert receiver", "Receivers of alert notifications."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

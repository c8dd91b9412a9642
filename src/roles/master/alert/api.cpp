// Alerts, their rules and silences.
#include <fmt/format.h>

#include "api/operations_alert.h"
#include "roles/master/alert/alerts.h"
#include "roles/master/alert/trial.h"
#include "roles/master/alert/view.h"
#include "roles/master/http/api.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

std::unexpected<Error> no_rule(const std::string& name) {
    return fail(Code::not_found, fmt::format("there is no alert rule {}", name), "alert_rule_not_found");
}

// A tenant sees its own, and those of the operator that it is told of.
bool sees(const std::string& tenant, const alert::Rule& rule) {
    return tenant.empty() || rule.tenant == tenant ||
           (rule.tenant.empty() && rule.scope == alert::Scope::tenants);
}

// How many fire for others is not a tenant's to know.
api::AlertRule seen_by(const std::string& tenant, const Desk& desk, const alert::Rule& rule) {
    api::AlertRule shown = view(desk, rule);
    if (!tenant.empty() && rule.tenant != tenant) shown.firing = shown.pending = 0;
    return shown;
}

Result<api::AlertRule> put_rule(Desk& desk, const api::AlertRuleSpec& spec, const std::string& name,
                                const std::string& tenant) {
    if (!tenant.empty() && spec.tell_tenants) {
        Error error{Code::invalid, "one field of the request is wrong", "invalid"};
        error.fields.push_back(
            {"tellTenants", "is for rules of the operator: a tenant's own tells it anyway"});
        return std::unexpected(std::move(error));
    }
    TRY(put_alert_rule(desk, rule_of(spec, name, tenant)));
    return view(desk, desk.estate.alert_rules.at(alert::rule_id(tenant, name)));
}

Result<api::AlertRule> create_rule(Desk& desk, const api::Call& call, const api::CreateAlertRule& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    if (desk.estate.alert_rules.find(alert::rule_id(tenant, request.name)))
        return fail(Code::conflict, fmt::format("there is an alert rule {} already", request.name),
                    "alert_rule_exists");
    if (!tenant.empty()) TRY(check_tenant(desk, tenant));
    auto made = TRY(put_rule(desk, request, request.name, tenant));
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    return made;
}

Result<api::AlertRule> replace_rule(Desk& desk, const api::Call& call, const api::ReplaceAlertRule& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    return put_rule(desk, request, request.alert_rule, tenant);
}

// A dry run tells also what would have come of the rule.
template <const auto& operation, auto decide>
void write_rule(Api& service) {
    using Op = std::remove_cvref_t<decltype(operation)>;
    service.handlers().on<operation>([&service](api::Call call,
                                                typename Op::Request request) -> Task<api::AlertRule> {
        const TermPtr term = CO_TRY(service.leader());
        const bool tries = call.dry_run;
        const std::string who = call.caller.actor;
        const api::AlertRuleSpec spec = request;
        api::AlertRule made =
            CO_TRY(co_await service.perform<Op>(decide, std::move(call), std::move(request)));
        if (tries)
            made.would_fire =
                CO_TRY(co_await would_fire(term, who, rule_of(spec, std::string{made.name}, made.tenant_id)));
        co_return made;
    });
}

Result<api::Empty> delete_rule(Desk& desk, const api::Call& call, const api::NameAlertRule& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    const std::string id = alert::rule_id(tenant, request.alert_rule);
    if (!desk.estate.alert_rules.find(id)) {
        if (!find_alert_rule(desk, id)) return no_rule(request.alert_rule);
        Error error{Code::conflict,
                    fmt::format("every cloud has alert rule {}: it cannot be deleted", request.alert_rule),
                    "default_alert_rule"};
        error.help = "Replace it by one that is disabled.";
        return std::unexpected(std::move(error));
    }
    delete_alert_rule(desk, id);
    return api::Empty{};
}

Result<api::AlertRule> get_rule(const Desk& desk, const api::Call& call, const api::NameAlertRule& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    for (const std::string& owner : {tenant, std::string{}})
        if (const auto rule = find_alert_rule(desk, alert::rule_id(owner, request.alert_rule));
            rule && sees(tenant, *rule))
            return seen_by(tenant, desk, *rule);
    return no_rule(request.alert_rule);
}

// All at once: there are few.
Result<api::List<api::AlertRule>> list_rules(const Desk& desk, const api::Call& call,
                                             const api::ListAlertRules& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    api::List<api::AlertRule> list;
    for (const alert::Rule& rule : alert_rules(desk))
        if (sees(tenant, rule)) list.items.push_back(seen_by(tenant, desk, rule));
    std::erase_if(list.items, [&](const auto& shown) { return !api::lets_through(call.query, shown); });
    return list;
}

Result<api::List<api::Alert>> list_alerts(const Desk& desk, const api::Call& call,
                                          const api::ListAlerts& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    const std::string looker = may_everywhere(call) ? "" : tenant;
    return rows_of<api::Alert>(desk.estate.alerts,
                               [&](const alert::Alert& row) {
                                   if (!tenant.empty() && row.tenant != tenant) return false;
                                   if (request.severity && row.severity < *request.severity) return false;
                                   return !request.rule ||
                                          row.rule ==
                                              alert::rule_id(row.own ? row.tenant : "", *request.rule);
                               })
        .page(call, [&](const alert::Alert& row) { return view(desk, row, looker); });
}

Result<api::AlertSilence> create_silence(Desk& desk, const api::Call& call,
                                         const api::CreateAlertSilence& request) {
    alert::Silence silence{.id = new_id(desk.random, "si"),
                           .tenant = TRY(tenant_meant(call, request.tenant_id)),
                           .matchers = request.matchers,
                           .comment = request.comment,
                           .made_by = call.caller.actor,
                           .created_at = desk.estate.micros()};
    silence.until = silence.created_at + request.for_seconds * std::int64_t{1'000'000};
    if (!silence.tenant.empty()) TRY(check_tenant(desk, silence.tenant));
    const alert::Silence& made = *TRY(add_silence(desk, std::move(silence)));
    if (!made.tenant.empty()) ensure_tenant(desk, made.tenant);
    return view(made);
}

Result<api::Empty> delete_silence(Desk& desk, const api::Call& call, const api::NameAlertSilence& request) {
    const alert::Silence* silence = desk.estate.alert_silences.find(request.silence);
    Error absent{Code::not_found, fmt::format("there is no silence {}", request.silence),
                 "silence_not_found"};
    if (!silence) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of(*silence), std::move(absent)));
    desk.estate.event("alert_silence", silence->id, silence->tenant, "ended",
                      fmt::format("The silence ended: {}", silence->comment));
    desk.estate.alert_silences.erase(request.silence);
    return api::Empty{};
}

}  // namespace

static Subject rule_subject(const Desk& desk, const api::Call& call, const std::string& name,
                            const std::optional<std::string>& tenant) {
    const auto* row = desk.estate.alert_rules.find(alert::rule_id(alert_owner(call, tenant), name));
    return row ? Subject{"alert_rule/" + row->id, row->tenant, api::encode(view(desk, *row))} : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertRule& request) {
    return rule_subject(desk, call, request.name, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplaceAlertRule& request) {
    return rule_subject(desk, call, request.alert_rule, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertRule& request) {
    return rule_subject(desk, call, request.alert_rule, request.tenant_id);
}
Subject subject_of(const Desk&, const api::Call&, const api::CreateAlertSilence&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameAlertSilence& request) {
    const auto* row = desk.estate.alert_silences.find(request.silence);
    return row ? Subject{"alert_silence/" + row->id, row->tenant, api::encode(view(*row))} : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateAlertSilence&,
                      const api::AlertSilence& made) {
    return subject_of(desk, call, api::NameAlertSilence{made.id});
}

void add_alerts(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_alerts>(list_alerts);
    service.read<ops::get_alert>([](const Desk& desk, const api::Call& call,
                                    const api::NameAlert& request) -> Result<api::Alert> {
        const alert::Alert* alert = desk.estate.alerts.find(request.alert);
        Error absent{Code::not_found, fmt::format("there is no alert {}", request.alert), "alert_not_found"};
        if (!alert) return std::unexpected(std::move(absent));
        TRY(check(call, scope_of(*alert), std::move(absent)));
        return view(desk, *alert, may_everywhere(call) ? "" : alert->tenant);
    });
    write_rule<ops::create_alert_rule, create_rule>(service);
    write_rule<ops::replace_alert_rule, replace_rule>(service);
    service.read<ops::list_alert_rules>(list_rules);
    service.read<ops::get_alert_rule>(get_rule);
    service.write<ops::delete_alert_rule>(delete_rule);
    service.write<ops::create_alert_silence>(create_silence);
    service.read<ops::list_alert_silences>(
        [](const Desk& desk, const api::Call& call,
           const api::ListAlertSilences& request) -> Result<api::List<api::AlertSilence>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::AlertSilence>(
                       desk.estate.alert_silences,
                       [&](const alert::Silence& row) { return tenant.empty() || row.tenant == tenant; })
                .page(call, [](const alert::Silence& row) { return view(row); });
        });
    service.write<ops::delete_alert_silence>(delete_silence);
}

}  // namespace hostler::master

// What requests about alerts are about.
#include "roles/master/alert_views.h"
#include "roles/master/audit.h"

namespace hostler::master {

namespace {

// Whose thing is meant; where the key may not name it, nothing comes of the request.
std::string owner(const api::Call& call, const std::optional<std::string>& named) {
    return call.caller.is_operator ? named.value_or("") : call.caller.tenant;
}

Subject rule(const Desk& desk, const api::Call& call, const std::string& name,
             const std::optional<std::string>& tenant) {
    const auto* row = desk.estate.alert_rules.find(alert::rule_id(owner(call, tenant), name));
    return row ? Subject{"alert_rule/" + row->id, row->tenant, api::encode(view(desk, *row))} : Subject{};
}

Subject receiver(const Desk& desk, const api::Call& call, const std::string& name,
                 const std::optional<std::string>& tenant) {
    const auto* row = desk.estate.alert_receivers.find(alert::receiver_id(owner(call, tenant), name));
    return row ? Subject{"alert_receiver/" + row->id, row->tenant, api::encode(view(desk, *row))} : Subject{};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertRule& request) {
    return rule(desk, call, request.name, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplaceAlertRule& request) {
    return rule(desk, call, request.alert_rule, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertRule& request) {
    return rule(desk, call, request.alert_rule, request.tenant_id);
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateAlertSilence&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameAlertSilence& request) {
    const auto* row = desk.estate.alert_silences.find(request.silence);
    return row ? Subject{"alert_silence/" + row->id, row->tenant, api::encode(view(*row))} : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertReceiver& request) {
    return receiver(desk, call, request.name, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplaceAlertReceiver& request) {
    return receiver(desk, call, request.receiver, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertReceiver& request) {
    return receiver(desk, call, request.receiver, request.tenant_id);
}

}  // namespace hostler::master

// What the API shows of alerts, and takes for their rules and receivers.
#pragma once

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Alert;
struct AlertReceiver;
struct AlertReceiverSpec;
struct AlertRule;
struct AlertRuleSpec;
struct AlertSilence;
}  // namespace hostler::api

namespace hostler::master {

api::AlertRule view(const Desk& desk, const alert::Rule& rule);
// `looker`: the tenant that looks; empty: an operator.
api::Alert view(const Desk& desk, const alert::Alert& alert, const std::string& looker);
api::AlertSilence view(const alert::Silence& silence);
api::AlertReceiver view(const Desk& desk, const alert::Receiver& receiver);

alert::Rule rule_of(const api::AlertRuleSpec& spec, const std::string& name, const std::string& tenant);
// Without its secret.
alert::Receiver receiver_of(const api::AlertReceiverSpec& spec, const std::string& name,
                            const std::string& tenant);

// Whose rule or receiver a request means; where its key may not name a tenant, nothing comes of the request.
std::string alert_owner(const api::Call& call, const std::optional<std::string>& named);

}  // namespace hostler::master

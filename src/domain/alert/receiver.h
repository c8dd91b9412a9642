// Who is told of alerts, how, and how often.
#pragma once

#include <optional>

#include "domain/alert/firing.h"

namespace hostler::alert {

enum class ReceiverKind { webhook, email, alertmanager };
BOOST_DESCRIBE_ENUM(ReceiverKind, webhook, email, alertmanager)

struct Receiver {
    std::string id;  // receiver_id()
    std::string name;
    std::string
        tenant;  // Whose alerts alone it is told, and whose word its address is; empty: the operator's.
    ReceiverKind kind = ReceiverKind::webhook;
    std::string url;  // https://…, of an Alertmanager without its path; smtp://… or smtps://….
    std::string
        secret;  // Never shown. Webhook: it signs with this. Alertmanager: bearer token. E-mail: password.
    std::string user;                 // E-mail.
    std::string from;                 // E-mail.
    std::vector<std::string> to;      // E-mail.
    bool plain = false;               // E-mail: without TLS, and so without a password.
    Severity least = Severity::info;  // Nothing milder.
    std::vector<std::string> where;   // As parse_match() takes them; all of them.
    std::vector<std::string> group_by{"alertname"};
    std::int64_t group_wait_s = 30;
    std::int64_t group_interval_s = 300;
    std::int64_t repeat_s = 14'400;
    bool tell_resolved = true;
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Receiver, (),
                      (id, name, tenant, kind, url, secret, user, from, to, plain, least, where, group_by,
                       group_wait_s, group_interval_s, repeat_s, tell_resolved, created_at))

inline constexpr std::size_t receivers_max = 1000;       // Of all tenants and the operator,
inline constexpr std::size_t receivers_tenant_max = 20;  // and of one of them.

std::string receiver_id(const std::string& tenant, const std::string& name);

// Whether it is told of such an alert at all.
bool is_for(const Receiver& receiver, const Alert& alert);
// "alertname=gpu-hot host=h-1": what the alerts of a group have in common.
std::string group_of(const Receiver& receiver, const Alert& alert);

}  // namespace hostler::alert

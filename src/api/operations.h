// Every operation of the API, once, in operations_*.h by what it is about. The server routes, checks and
// decodes from them; openapi.json and the command line are made from them.
#pragma once

#include <span>

#include "api/operations_instance.h"
#include "api/operations_measured.h"
#include "api/operations_secret.h"
#include "api/operations_site.h"
#include "api/operations_supply.h"
#include "api/operations_trust.h"

namespace hostler::api {

// All of them, in the order of openapi.json.
std::span<const Operation* const> operations();

// What the operations are about, as the command line and the tags of openapi.json name it.
struct Noun {
    std::string_view name;
    std::string_view help;
};
inline constexpr auto nouns = std::to_array<Noun>({
    {"stock", "Resources of instances, held in advance."},
    {"instance", "GPU instances."},
    {"template", "Kinds of instances, ready to be started."},
    {"zone", "Sites where hosts stand."},
    {"access", "Entry points of zones, for hosts and tunnels."},
    {"host", "Machines with GPUs."},
    {"host token", "One-time tokens with which hosts join."},
    {"gpu", "GPUs of the hosts."},
    {"metrics", "Metrics of GPUs and hosts, over time."},
    {"report", "GPU usage over time: utilization, idle time and bottlenecks."},
    {"report schedule", "Scheduled reports."},
    {"spec", "Shapes of instances."},
    {"offer", "Available instance shapes."},
    {"placement", "Where tasks would go, and why some have no place."},
    {"price", "Prices of a GPU for an hour."},
    {"consolidation", "Moves that free whole hosts."},
    {"volume", "Data that outlives an instance."},
    {"secret", "Tokens, passwords and registry logins for instances."},
    {"network", "Networks that instances are in."},
    {"operation", "Calls that take long."},
    {"reconcile", "Workloads that run and are not in the store, for example after a restore."},
    {"key", "API keys."},
    {"ca", "Who signs certificates."},
    {"seal", "Keys that seal what is secret in the store."},
    {"alert", "Problems that need attention now."},
    {"alert rule", "What makes alerts."},
    {"alert silence", "Alerts without notifications for a while."},
    {"alert receiver", "Receivers of alert notifications."},
    {"event", "What happened."},
    {"audit", "Changes through the API, with their callers."},
    {"whoami", "Whom a key belongs to."},
});

}  // namespace hostler::api

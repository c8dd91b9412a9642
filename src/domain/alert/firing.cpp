#include "domain/alert/firing.h"

#include <boost/describe/enum_to_string.hpp>

namespace hostler::alert {

Alert begin_firing(const Rule& rule, const Labels& of, double value, std::int64_t now) {
    Alert alert{.rule = rule.id, .tenant = rule.tenant, .own = !rule.tenant.empty()};
    if (rule.tenant.empty() && rule.scope == Scope::tenants)
        if (const auto tenant = of.find("tenant"); tenant != of.end()) alert.tenant = tenant->second;
    alert.severity = rule.severity;
    alert.of = of;
    alert.labels = rule.labels;
    for (const auto& [label, text] : of) alert.labels[label] = text;
    alert.labels["alertname"] = rule.name;
    alert.labels["severity"] = boost::describe::enum_to_string(rule.severity, "");
    alert.fingerprint = fingerprint(rule.id, of);
    alert.summary = fill(rule.summary, rule, alert.labels, value);
    alert.runbook = fill(rule.runbook, rule, alert.labels, value);
    alert.value = value;
    alert.fired_at = now;
    return alert;
}

}  // namespace hostler::alert

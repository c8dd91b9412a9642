// One firing of a rule for one label set, and who was told of it.
#pragma once

#include "domain/alert/rule.h"

namespace hostler::alert {

struct Told {
    std::int64_t at = 0;    // When last.
    bool resolved = false;  // That it is over, too.
    bool operator==(const Told&) const = default;
};
BOOST_DESCRIBE_STRUCT(Told, (), (at, resolved))

struct Alert {
    std::string id;      // "al-…"
    std::string rule;    // Its id.
    std::string tenant;  // Who sees it beside operators; empty: nobody.
    bool own = false;    // The rule is that tenant's own: operators' receivers are not told.
    Severity severity = Severity::warning;
    Labels of;      // The labels of the sample,
    Labels labels;  // and all: with the rule's, alertname and severity.
    std::string fingerprint;
    std::string summary;
    std::string runbook;
    double value = 0;  // When it began.
    std::int64_t fired_at = 0;
    std::int64_t resolved_at = 0;      // 0: it fires.
    std::map<std::string, Told> told;  // By receiver.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Alert, (),
                      (id, rule, tenant, own, severity, of, labels, fingerprint, summary, runbook, value,
                       fired_at, resolved_at, told))

// What a rule says of a label set that begins to fire.
Alert begin_firing(const Rule& rule, const Labels& of, double value, std::int64_t now);

}  // namespace hostler::alert

// Rules that every cloud has until its operator says otherwise, and what they look at beside the series.
#pragma once

#include <span>
#include <string_view>

#include "core/result.h"
#include "domain/alert/rule.h"

namespace hostler::alert {

// Known at the moment, and in no series.
struct LiveMetric {
    std::string_view name;
    std::string_view unit;    // "percent", "celsius", "seconds", "days", ""
    std::string_view labels;  // That its samples have, beside "device".
    std::string_view help;
};
std::span<const LiveMetric> live_metrics();
bool is_live(std::string_view metric);

// Where the GPU does not say from which temperature on it slows down.
inline constexpr double slowdown_celsius = 90;

struct DefaultRule {
    std::string_view name;
    Severity severity = Severity::warning;
    Scope scope = Scope::operators;
    std::string_view metric;
    std::string_view where;  // Empty: all.
    Over over = Over::last;
    std::int64_t window_s = 60;
    Comparison comparison = Comparison::above;
    double threshold = 0;
    std::int64_t for_s = 0;
    std::int64_t clear_s = 60;
    Missing missing = Missing::resolve;
    std::string_view help;     // When it fires.
    std::string_view summary;  // As Rule's.
    std::string_view runbook;
};
std::span<const DefaultRule> default_rules();
Rule rule_of(const DefaultRule& row);

// The document with each table written anew between "<!-- alerts: NAME -->" and "<!-- /alerts -->"; NAME is
// rules or metrics. Errors: not_found (no such table), invalid (a table without its end).
Result<std::string> with_tables(std::string_view document);

}  // namespace hostler::alert

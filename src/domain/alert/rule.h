// A rule: what is asked, from when on the answer is worth an alert, and what is said then.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "domain/alert/match.h"
#include "domain/object.h"

namespace hostler::alert {

enum class Severity { info, warning, critical };
BOOST_DESCRIBE_ENUM(Severity, info, warning, critical)

enum class Comparison { above, at_least, below, at_most };
BOOST_DESCRIBE_ENUM(Comparison, above, at_least, below, at_most)

// What holds of a label set whose samples stop, for `missing_max` at most; after that it has eased.
enum class Missing {
    keep,     // Nothing is known: it stays as it is.
    resolve,  // It has eased.
    fire,     // It breaches.
};
BOOST_DESCRIBE_ENUM(Missing, keep, resolve, fire)

// Whose alerts an operator's rule makes: the operator's alone, or also those of the tenant in label `tenant`.
enum class Scope { operators, tenants };
BOOST_DESCRIBE_ENUM(Scope, operators, tenants)

// What the samples of the window come to; as series::Over. `increase` and `rate` are of counters.
enum class Over { last, avg, min, max, sum, increase, rate };
BOOST_DESCRIBE_ENUM(Over, last, avg, min, max, sum, increase, rate)
enum class Across { none, sum, avg, min, max, count };
BOOST_DESCRIBE_ENUM(Across, none, sum, avg, min, max, count)

struct Rule {
    std::string id;  // rule_id()
    std::string name;
    std::string tenant;  // Whose rule it is, and whose GPUs alone it looks at; empty: the operator's.
    Scope scope = Scope::operators;
    Severity severity = Severity::warning;
    std::string help;
    bool enabled = true;

    std::string metric;              // One of live_metrics(), or a column of the series.
    std::vector<std::string> where;  // As parse_match() takes them.
    Over over = Over::last;          // A live metric has but one sample.
    std::int64_t window_s = 60;
    Across across = Across::none;
    std::vector<std::string> by;
    Comparison comparison = Comparison::above;
    double threshold = 0;
    std::int64_t for_s = 60;
    std::int64_t clear_s = 120;
    Missing missing = Missing::resolve;

    std::map<std::string, std::string> labels;  // Added to those of the sample.
    std::string summary;                        // With {label}, {value}, {threshold}, {rule}.
    std::string runbook;                        // What to do.
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Rule, (),
                      (id, name, tenant, scope, severity, help, enabled, metric, where, over, window_s,
                       across, by, comparison, threshold, for_s, clear_s, missing, labels, summary, runbook,
                       created_at))

inline constexpr std::size_t rules_max = 1000;        // Of all tenants and the operator,
inline constexpr std::size_t rules_tenant_max = 50;   // and of one tenant.
inline constexpr std::size_t alerts_rule_max = 1000;  // Label sets that one rule keeps an eye on.
inline constexpr std::int64_t missing_max_s = 86'400;

// Names are unique among one tenant's rules. (A tenant's name has no '/'.)
std::string rule_id(const std::string& tenant, const std::string& name);

bool breaches(Comparison comparison, double value, double threshold);
std::string sign(Comparison comparison);  // ">", ">=", "<", "<="

// The question to the series about the window that ends at `now`. A tenant's rule is asked of its own alone.
series::Query query_of(const Rule& rule, series::Millis now);

// The same of samples at hand: those that are meant, by group.
struct Sample {
    Labels labels;
    double value = 0;
};
std::vector<Sample> select(const Rule& rule, const std::vector<Sample>& samples);

// The same label set under the same rule has the same one: 16 hexadecimal digits (FNV-1a of 64 bits).
std::string fingerprint(const std::string& rule, const Labels& labels);

// `text` with what its {names} stand for; of one that is unknown nothing is left.
std::string fill(std::string_view text, const Rule& rule, const Labels& labels, double value);

}  // namespace hostler::alert

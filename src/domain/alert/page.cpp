// The tables as docs/operate/alerts.md shows them.
#include <fmt/format.h>

#include <boost/describe/enum_to_string.hpp>

#include "domain/alert/defaults.h"
#include "domain/written.h"

namespace hostler::alert {

namespace {

std::string time(std::int64_t seconds) {
    if (seconds >= 60 && seconds % 60 == 0) return fmt::format("{} min", seconds / 60);
    return fmt::format("{} s", seconds);
}

std::string condition(const DefaultRule& row) {
    std::string what = fmt::format("`{}`", row.metric);
    if (!is_live(row.metric))
        what = fmt::format("{} of {} over {}", boost::describe::enum_to_string(row.over, ""), what,
                           time(row.window_s));
    return fmt::format("{} {} {:g}", what, sign(row.comparison), row.threshold);
}

// The runbook has its {names} still.
std::string table_of_rules() {
    std::string made =
        "| rule | fires when | condition | for | clears after | what to do |\n"
        "|---|---|---|---|---|---|\n";
    for (const DefaultRule& row : default_rules())
        made += fmt::format("| `{}` ({}{}) | {} | {} | {} | {} | {} |\n", row.name,
                            boost::describe::enum_to_string(row.severity, ""),
                            row.scope == Scope::tenants ? ", also told to its tenant" : "", row.help,
                            condition(row), time(row.for_s), time(row.clear_s), row.runbook);
    return made;
}

std::string table_of_metrics() {
    std::string made = "| metric | unit | labels | what it is |\n|---|---|---|---|\n";
    for (const LiveMetric& row : live_metrics())
        made += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.unit, row.labels, row.help);
    return made;
}

Result<std::string> table(std::string_view name) {
    if (name == "rules") return table_of_rules();
    if (name == "metrics") return table_of_metrics();
    return fail(Code::not_found, fmt::format("there is no table '{}'", name));
}

}  // namespace

Result<std::string> with_tables(std::string_view document) { return with_parts(document, "alerts", table); }

}  // namespace hostler::alert

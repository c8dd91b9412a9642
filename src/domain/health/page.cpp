#include "domain/health/page.h"

#include <fmt/format.h>

#include <map>

#include "domain/health/table.h"
#include "domain/written.h"

namespace hostler::health {

namespace {

std::string codes(const Row& row) {
    return row.first == row.last ? fmt::format("{}", row.first) : fmt::format("{}–{}", row.first, row.last);
}

template <class Enum>
std::string text(Enum value) {
    return boost::describe::enum_to_string(value, "");
}

std::string table_of_codes(std::span<const Row> rows, std::string_view head) {
    std::string made = fmt::format("| {} | what happened | verdict | remedy |\n|---|---|---|---|\n", head);
    for (const Row& row : rows)
        made += fmt::format("| {} | {} | {} | `{}` |\n", codes(row), row.what, text(row.severity),
                            text(row.remedy));
    return made;
}

// Units, not rows: how many of their errors are worth what.
std::string table_of_nvlink() {
    std::map<std::pair<int, std::string_view>, std::map<Severity, int>> units;
    for (const NvlinkRow& row : nvlink_rows()) ++units[{row.xid, row.unit}][row.severity];
    std::string made =
        "| XID | unit | errors that are faulty | watched | of no matter |\n|---|---|---|---|---|\n";
    for (auto& [unit, count] : units)
        made += fmt::format("| {} | {} | {} | {} | {} |\n", unit.first, unit.second, count[Severity::faulty],
                            count[Severity::watch], count[Severity::note]);
    return made;
}

std::string table_of_conditions() {
    std::string made = "| what samples show | counts from | verdict | remedy |\n|---|---|---|---|\n";
    for (const ConditionRow& row : conditions())
        made += fmt::format("| {} (`{}`) | {} | {} | `{}` |\n", row.what, text(row.condition), row.when,
                            text(row.health), text(row.remedy));
    return made;
}

Result<std::string> table(std::string_view name) {
    if (name == "xid") return table_of_codes(xids(), "XID");
    if (name == "sxid") return table_of_codes(sxids(), "SXID");
    if (name == "nvlink") return table_of_nvlink();
    if (name == "samples") return table_of_conditions();
    return fail(Code::not_found, fmt::format("there is no table '{}'", name));
}

}  // namespace

Result<std::string> with_tables(std::string_view document) { return with_parts(document, "health", table); }

}  // namespace hostler::health

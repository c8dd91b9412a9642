#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "api/codec.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string number(double value) { return fmt::format("{:.1f}", value); }
std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}%", *value) : "-";
}

// The labels of its lines in the order in which they were asked for.
using Names = std::vector<std::string>;
Names names_of(const report::Report& report) {
    Names names;
    for (const auto word : std::views::split(report.by, ','))
        if (!word.empty()) names.emplace_back(word.begin(), word.end());
    return names;
}

std::vector<std::string> head_of(const Names& names, std::initializer_list<const char*> more) {
    std::vector<std::string> head = names;
    for (std::string& name : head)
        std::ranges::transform(name, name.begin(), [](char c) { return std::toupper(c); });
    head.insert(head.end(), more.begin(), more.end());
    return head;
}

std::vector<std::string> cells_of(const Names& names, const report::Labels& labels) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
        const auto value = labels.find(name);
        cells.push_back(value == labels.end() || value->second.empty() ? "-" : safe_line(value->second));
    }
    return cells;
}

void extend(std::vector<std::string>& row, std::initializer_list<std::string> more) {
    row.insert(row.end(), more.begin(), more.end());
}

std::string usage_table(const report::Report& report) {
    const Names names = names_of(report);
    Rows rows{head_of(
        names, {"GPUS", "HOURS", "CLAIMED", "BUSY", "IDLE", "OTHER", "FREE", "UTIL", "MEMORY", "KWH"})};
    const auto add = [&](std::vector<std::string> row, const report::UsageLine& line) {
        extend(row, {std::to_string(line.gpus), number(line.measured_hours), number(line.claimed_hours),
                     number(line.busy_hours), number(line.idle_hours), number(line.other_hours),
                     number(line.free_hours), percent(line.utilization_percent),
                     percent(line.memory_used_percent), number(line.energy_kwh)});
        rows.push_back(std::move(row));
    };
    for (const report::UsageLine& line : report.usage) add(cells_of(names, line.labels), line);
    if (report.usage.size() > 1) {
        std::vector<std::string> row(names.size());
        if (!row.empty()) row.front() = "all";
        add(std::move(row), report.total);
    }
    return lined_up(rows, names.size());
}

std::string waste_table(const report::Report& report) {
    const Names names = names_of(report);
    Rows rows{
        head_of(names, {"GPUS", "CLAIMED", "IDLE", "PART", "LONGEST", "MEMORY", "KWH", "COST", "ADVICE"})};
    for (const report::WasteLine& line : report.waste) {
        auto row = cells_of(names, line.labels);
        extend(row,
               {std::to_string(line.gpus), number(line.claimed_hours), number(line.idle_hours),
                percent(line.idle_percent), number(line.longest_hours) + "h",
                percent(line.memory_used_percent), number(line.energy_kwh),
                line.idle_costs.empty() ? "-" : safe_line(report::text_of(line.idle_costs)), line.advice});
        rows.push_back(std::move(row));
    }
    return lined_up(rows, names.size());
}

// What to do is said once for each verdict.
std::string bottlenecks_table(const report::Report& report) {
    const Names names = names_of(report);
    Rows rows{head_of(names, {"VERDICT", "HOURS", "PART", "EVIDENCE"})};
    std::map<std::string, std::string> advice;
    for (const report::Finding& line : report.bottlenecks) {
        const std::string verdict{boost::describe::enum_to_string(line.verdict, "")};
        auto row = cells_of(names, line.labels);
        extend(row, {verdict, number(line.hours), percent(line.percent), report::text_of(line.evidence)});
        rows.push_back(std::move(row));
        advice[verdict] = line.advice;
    }
    std::string out = lined_up(rows, names.size() + 1) + "\n";
    for (const auto& [verdict, what] : advice) out += fmt::format("{}: {}\n", verdict, what);
    return out;
}

}  // namespace

bool is_report(const api::Operation& operation) {
    return operation.response == &api::schema_of<report::Report>;
}

std::string report_table(const report::Report& report) {
    std::string out;
    const auto add = [&](const std::string& table) { out += (out.empty() ? "" : "\n") + table; };
    if (!report.usage.empty()) add(usage_table(report));
    if (!report.waste.empty()) add(waste_table(report));
    if (!report.bottlenecks.empty()) add(bottlenecks_table(report));
    if (report.left_out > 0) out += fmt::format("{} more are left out\n", report.left_out);
    return out.empty() ? "nothing to report\n" : out;
}

Result<std::string> render_report(const api::Operation& operation, const json::value& answer,
                                  const Style& style) {
    const auto read = api::decode_stored<report::Report>(json::serialize(answer));
    if (!read) return fail(Code::internal, "the API's answer is no report", "not_our_api");
    const std::string_view kind = operation.path.substr(api::reports_path.size());
    switch (style.format) {
        case Format::csv: return safe_lines(report::csv(*read, api::report_section(kind)));
        case Format::html: return report::page(*read, api::report_title(kind));
        case Format::table: return report_table(*read);
        case Format::json:
        case Format::yaml:
        case Format::name: break;
    }
    return fail(Code::internal, "this is shown as JSON is");
}

}  // namespace hostler::cli

// Reports: what became of GPUs over a time.
#pragma once

#include "api/query.h"
#include "api/types_common.h"
#include "domain/report/text.h"

namespace hostler::api {

// clang-format off

enum class ReportFormat { json, csv, html };
BOOST_DESCRIBE_ENUM(ReportFormat, json, csv, html)

struct AskReport {
    std::string by;
    std::string where;
    std::optional<std::string> zone{};
    std::optional<std::string> gpu_class{};
    std::optional<WallTime> from{};
    std::optional<WallTime> to{};
    std::optional<std::int64_t> since{};
    std::optional<std::int64_t> step{};
    int top = 0;
    ReportFormat format = ReportFormat::json;
};
BOOST_DESCRIBE_STRUCT(AskReport, (), (by, where, zone, gpu_class, from, to, since, step, top, format))
template <>
inline constexpr auto fields<AskReport> = std::to_array<Field>({
    {.member = "by", .help = "What makes the groups, with commas: labels of series (tenant, zone, host_name, class, …), "
                             "instance, day, hour. Else tenant, and with a tenant's key instance.",
     .example = "tenant,class", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "where", .help = "Only GPUs with these labels: LABEL=VALUE or LABEL!=VALUE (docs/use/series.md).",
     .example = "zone=lon model=h100", .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "zone", .help = "Only GPUs in this zone.", .example = "lon", .form = &forms::label},
    {.member = "gpu_class", .help = "Only GPUs of this class, a family of models.", .example = "H100", .min = 1,
     .max = 64, .form = &forms::one_line},
    {.member = "from", .help = "The beginning; else `since` before the end."},
    {.member = "to", .help = "The end; else now."},
    {.member = "since", .help = "So long before the end; without it and `from` a day.", .example = "604800",
     .min = 60, .max = report::span_max_s, .unit = Unit::seconds},
    {.member = "step", .help = "Idleness and bottlenecks are judged in steps of so long; else 300 of them, of an hour at most.",
     .example = "300", .min = 60, .max = 3600, .unit = Unit::seconds},
    {.member = "top", .help = "Only so many lines of each section, the highest; 0: all.", .example = "10", .min = 0,
     .max = 10'000, .absent = Absent::fills},
    {.member = "format", .help = "csv: as text/csv; html: as a page that prints well. As with Accept.",
     .absent = Absent::fills},
});
template <>
struct Rules<AskReport> {
    static void check(const AskReport& request, Wrong& wrong);
};

// Labels by which reports are made, in order. Errors: invalid (one that there is not, or twice).
Result<std::vector<std::string>> report_labels_of(std::string_view by);

// The last word of its path, and what that means.
inline constexpr std::string_view reports_path = "/v1/reports/";
report::Section report_section(std::string_view kind);  // Of its CSV.
std::string_view report_title(std::string_view kind);

template <>
inline constexpr auto fields<report::UsageLine> = std::to_array<Field>({
    {.member = "labels", .help = "Of the group; an empty one: nobody, or none."},
    {.member = "gpus", .help = "Different GPUs.", .example = "8"},
    {.member = "measured_hours", .help = "GPU-hours with samples: claimed, other and free ones.", .example = "192"},
    {.member = "claimed_hours", .help = "Held by instances.", .example = "120"},
    {.member = "other_hours", .help = "In stock, or held by workloads that are not in the store.", .example = "24"},
    {.member = "free_hours", .help = "Held by nothing.", .example = "48"},
    {.member = "busy_hours", .help = "Claimed hours times utilization.", .example = "84.5"},
    {.member = "idle_hours", .help = "Claimed, in steps with a utilization below 5 %.", .example = "20"},
    {.member = "unknown_hours", .help = "Claimed, and their utilization was not measured.", .example = "0"},
    {.member = "utilization_percent", .help = "Of claimed hours with a measured one; absent: there are none.",
     .unit = Unit::percent},
    {.member = "memory_used_percent", .help = "GPU memory in use, of claimed hours.", .unit = Unit::percent},
    {.member = "energy_kwh", .help = "Energy drawn by the GPUs, in kWh, of all measured hours.", .example = "51.2"},
});
template <>
inline constexpr auto fields<report::Cost> = std::to_array<Field>({
    {.member = "amount", .help = "A decimal with two digits behind the point.", .example = "12.50"},
    {.member = "currency", .help = "Three capital letters (ISO 4217).", .example = "USD"},
});
template <>
inline constexpr auto fields<report::WasteLine> = std::to_array<Field>({
    {.member = "labels", .help = "Of the group."},
    {.member = "gpus", .help = "Different GPUs.", .example = "1"},
    {.member = "claimed_hours", .help = "Held by instances.", .example = "24"},
    {.member = "idle_hours", .help = "Of these, in steps with a utilization below 5 %.", .example = "22.5"},
    {.member = "idle_percent", .help = "Of claimed hours.", .unit = Unit::percent},
    {.member = "longest_hours", .help = "The longest time without a break, of one GPU.", .example = "14"},
    {.member = "idle_since", .help = "One of them is idle at the end, since then."},
    {.member = "memory_used_percent", .help = "GPU memory held while idle.", .unit = Unit::percent},
    {.member = "energy_kwh", .help = "Energy drawn while idle, in kWh.", .example = "2.1"},
    {.member = "advice", .help = "What to do; empty: nothing to speak of."},
    {.member = "idle_costs", .help = "What the idle hours cost by the prices that held then, by currency; empty: none did."},
});
template <>
inline constexpr auto fields<report::Evidence> = std::to_array<Field>({
    {.member = "figure", .help = "What was measured.", .example = "GPU memory busy"},
    {.member = "value", .help = "Its mean, over the hours with this verdict.", .example = "71.5"},
    {.member = "unit", .help = "Of the value; empty: a number.", .example = "%"},
});
template <>
inline constexpr auto fields<report::Finding> = std::to_array<Field>({
    {.member = "labels", .help = "Of the group."},
    {.member = "verdict", .help = "What held the work back (docs/use/reports.md)."},
    {.member = "hours", .help = "GPU-hours in which it did.", .example = "11.2"},
    {.member = "percent", .help = "Of claimed hours with a measured utilization.", .unit = Unit::percent},
    {.member = "evidence", .help = "The figures that say so."},
    {.member = "advice", .help = "What to do."},
});
template <>
inline constexpr auto fields<report::Slice> = std::to_array<Field>({
    {.member = "from", .help = "Where it begins."},
    {.member = "gpus", .help = "GPUs with samples, on average.", .example = "8"},
    {.member = "claimed", .help = "Of these held by instances.", .example = "6"},
    {.member = "busy", .help = "Of those at work: claimed ones times utilization.", .example = "3.4"},
    {.member = "idle", .help = "Claimed and idle.", .example = "1"},
});
template <>
inline constexpr auto fields<report::Report> = std::to_array<Field>({
    {.member = "from", .help = "Where it begins: at a whole step."},
    {.member = "to", .help = "Where it ends."},
    {.member = "step", .help = "In which idleness and bottlenecks were judged.", .example = "300", .unit = Unit::seconds},
    {.member = "by", .help = "What made the groups.", .example = "tenant"},
    {.member = "total", .help = "All groups together."},
    {.member = "usage", .help = "What was claimed, and how busy it was: most claimed hours first, by their labels with day or hour.",
     .max = report::lines_max},
    {.member = "waste", .help = "What was claimed and idle: most idle hours first.", .max = report::lines_max},
    {.member = "bottlenecks", .help = "What held work back: most hours first.", .max = report::lines_max * 7},
    {.member = "timeline", .help = "How many GPUs there were, on average over parts of the time.", .max = 122},
    {.member = "left_out", .help = "Groups beyond those that were asked for.", .example = "0"},
    {.member = "idle_costs", .help = "What the idle hours of all groups cost, by currency."},
});

}  // namespace hostler::api

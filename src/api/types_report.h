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
    {.member = "by", .help = "Grouping, with commas: labels of series (tenant, zone, host_name, class, …), instance, "
                             "day, hour. Default: tenant; with a tenant's key instance.",
     .example = "tenant,class", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "where", .help = "Only GPUs with these labels: LABEL=VALUE or LABEL!=VALUE (docs/use/series.md).",
     .example = "zone=lon model=h100", .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "zone", .help = "Only GPUs in this zone.", .example = "lon", .form = &forms::label},
    {.member = "gpu_class", .help = "Only GPUs of this class, a family of models.", .example = "H100", .min = 1,
     .max = 64, .form = &forms::one_line},
    {.member = "from", .help = "The beginning. Default: `since` before the end."},
    {.member = "to", .help = "The end. Default: now."},
    {.member = "since", .help = "Length of the report up to its end. Default without `from`: a day.", .example = "604800",
     .min = 60, .max = report::span_max_s, .unit = Unit::seconds},
    {.member = "step", .help = "Length of the steps in which idleness and bottlenecks are judged. Default: 300 "
                               "steps, of an hour at most.",
     .example = "300", .min = 60, .max = 3600, .unit = Unit::seconds},
    {.member = "top", .help = "Maximum number of lines in each section, highest first; 0: all.", .example = "10", .min = 0,
     .max = 10'000, .absent = Absent::fills},
    {.member = "format", .help = "csv: as text/csv; html: as a page that prints well. Same as the header Accept.",
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
    {.member = "labels", .help = "Labels of the group; an empty value: no holder, or unknown."},
    {.member = "gpus", .help = "Different GPUs.", .example = "8"},
    {.member = "measured_hours", .help = "GPU-hours with samples: claimed, other and free ones.", .example = "192"},
    {.member = "claimed_hours", .help = "Held by instances.", .example = "120"},
    {.member = "other_hours", .help = "In stock, or held by unmanaged workloads.", .example = "24"},
    {.member = "free_hours", .help = "Held by nothing.", .example = "48"},
    {.member = "busy_hours", .help = "Claimed hours times utilization.", .example = "84.5"},
    {.member = "idle_hours", .help = "Claimed, in steps with a utilization below 5 %.", .example = "20"},
    {.member = "unknown_hours", .help = "Claimed, and their utilization was not measured.", .example = "0"},
    {.member = "utilization_percent", .help = "Utilization of the claimed hours that have a measured one; absent: "
                                              "there are none.",
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
    {.member = "advice", .help = "Advice; empty: there is none."},
    {.member = "idle_costs", .help = "Costs of the idle hours at the prices of that time, by currency; empty: no "
                                     "price was set."},
});
template <>
inline constexpr auto fields<report::Evidence> = std::to_array<Field>({
    {.member = "figure", .help = "Name of the figure.", .example = "GPU memory busy"},
    {.member = "value", .help = "Its mean, over the hours with this verdict.", .example = "71.5"},
    {.member = "unit", .help = "Of the value; empty: a number.", .example = "%"},
});
template <>
inline constexpr auto fields<report::Finding> = std::to_array<Field>({
    {.member = "labels", .help = "Of the group."},
    {.member = "verdict", .help = "Kind of bottleneck (docs/use/reports.md)."},
    {.member = "hours", .help = "GPU-hours with this bottleneck.", .example = "11.2"},
    {.member = "percent", .help = "Of claimed hours with a measured utilization.", .unit = Unit::percent},
    {.member = "evidence", .help = "Figures that support the verdict."},
    {.member = "advice", .help = "Advice."},
});
template <>
inline constexpr auto fields<report::Slice> = std::to_array<Field>({
    {.member = "from", .help = "Beginning of the part."},
    {.member = "gpus", .help = "GPUs with samples, on average.", .example = "8"},
    {.member = "claimed", .help = "Of these held by instances.", .example = "6"},
    {.member = "busy", .help = "Of those at work: claimed ones times utilization.", .example = "3.4"},
    {.member = "idle", .help = "Claimed and idle.", .example = "1"},
});
template <>
inline constexpr auto fields<report::Report> = std::to_array<Field>({
    {.member = "from", .help = "Beginning, at a whole step."},
    {.member = "to", .help = "End."},
    {.member = "step", .help = "Length of the steps in which idleness and bottlenecks were judged.", .example = "300", .unit = Unit::seconds},
    {.member = "by", .help = "Grouping.", .example = "tenant"},
    {.member = "total", .help = "All groups together."},
    {.member = "usage", .help = "Claimed hours and utilization: most claimed hours first, by their labels with day "
                                "or hour.",
     .max = report::lines_max},
    {.member = "waste", .help = "Claimed and idle hours: most idle hours first.", .max = report::lines_max},
    {.member = "bottlenecks", .help = "Bottlenecks: most hours first.", .max = report::lines_max * 7},
    {.member = "timeline", .help = "Number of GPUs, as averages over parts of the time.", .max = 122},
    {.member = "left_out", .help = "Number of groups left out because of `top`.", .example = "0"},
    {.member = "idle_costs", .help = "Costs of the idle hours of all groups, by currency."},
});

}  // namespace hostler::api

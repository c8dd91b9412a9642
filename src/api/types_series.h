// What was measured over time, and what is asked of it.
#pragma once

#include "api/query.h"
#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct SeriesMetric {
    std::string name;
    std::string of;
    std::string kind;
    std::string unit;
    std::string help;
};
BOOST_DESCRIBE_STRUCT(SeriesMetric, (), (name, of, kind, unit, help))
template <>
inline constexpr auto fields<SeriesMetric> = std::to_array<Field>({
    {.member = "name", .help = "What a query names; the unit at its end may be left out.", .example = "gpu_power_mw"},
    {.member = "of", .help = "What is measured: gpu, slice (of a GPU that is cut), host, volume, or layer "
     "(what a running instance writes outside its volumes).", .example = "gpu"},
    {.member = "kind", .help = "gauge (goes up and down) or counter (only rises, until it begins anew).",
     .example = "gauge"},
    {.member = "unit", .help = "Its unit; empty: a count, or bits.", .example = "mW"},
    {.member = "help", .help = "What it is.", .example = "Power drawn, mean of about a second."},
});

// What `where` and `by` may name.
inline constexpr auto series_labels = std::to_array<QueryField>({
    {"zone", QueryKind::text, "The zone."},
    {"host", QueryKind::text, "The host's id."},
    {"host_name", QueryKind::text, "What the machine calls itself."},
    {"gpu", QueryKind::text, "The GPU's id."},
    {"model", QueryKind::words, "The GPU's model, by its words."},
    {"class", QueryKind::words, "The model without memory and form: H100."},
    {"vendor", QueryKind::text, "nvidia, amd, intel or other.", "nvidia amd intel other"},
    {"use", QueryKind::text, "What held it: stock, instance or foreign; empty: nothing.", "stock instance foreign"},
    {"tenant", QueryKind::text, "Whose instance held it."},
    {"project", QueryKind::text, "Of that instance."},
    {"workload", QueryKind::text, "That instance, by its tenant's name for it."},
    {"slice", QueryKind::text, "Of a GPU that is cut (MIG): the slice's id."},
    {"profile", QueryKind::text, "Its profile: 1g.10gb."},
    {"gpu_instance", QueryKind::text, "The driver's number of its GPU instance."},
    {"volume", QueryKind::text, "The volume, by its tenant's name for it."},
});

enum class SeriesFormat { json, csv };
BOOST_DESCRIBE_ENUM(SeriesFormat, json, csv)

struct QuerySeries {
    std::string metric;
    std::string where;
    std::optional<WallTime> from{};
    std::optional<WallTime> to{};
    std::optional<std::int64_t> since{};
    std::optional<std::int64_t> step{};
    std::string over;
    std::string across;
    std::string by;
    int top = 0;
    SeriesFormat format = SeriesFormat::json;
};
BOOST_DESCRIBE_STRUCT(QuerySeries, (), (metric, where, from, to, since, step, over, across, by, top, format))
template <>
inline constexpr auto fields<QuerySeries> = std::to_array<Field>({
    {.member = "metric", .help = "What was measured (/v1/series/metrics).", .example = "gpu_utilization",
     .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "where", .help = "Only of devices with these labels: LABEL=VALUE or LABEL!=VALUE (docs/use/series.md).",
     .example = "zone=lon model=h100", .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "from", .help = "The beginning; else `since` before the end."},
    {.member = "to", .help = "The end; else now."},
    {.member = "since", .help = "So long before the end; without it and `from` an hour.", .example = "86400",
     .min = 1, .max = 10LL * 366 * 86'400, .unit = Unit::seconds},
    {.member = "step", .help = "Of the answer, a value for each; else some 200 of them.", .example = "300", .min = 1,
     .max = 366LL * 86'400, .unit = Unit::seconds},
    {.member = "over",
     .help = "What the samples of a step come to: avg, min, max, last, sum, count, quantile=0.95, and of counters "
             "increase or rate (a second). Else avg, and rate of counters.",
     .example = "max", .max = 32, .absent = Absent::fills},
    {.member = "across",
     .help = "What the devices of a group come to: avg, sum, min, max, count, quantile=0.95, or none: a line for "
             "each device. Else none, and avg (of counters sum) with `by`.",
     .example = "avg", .max = 32, .absent = Absent::fills},
    {.member = "by", .help = "Labels that make the groups, with commas; without any: one group.",
     .example = "tenant,zone", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "top", .help = "Only so many lines, those with the highest mean; 0: all.", .example = "10",
     .min = 0, .max = 10'000, .absent = Absent::fills},
    {.member = "format", .help = "csv: as text/csv, as with Accept: text/csv.", .absent = Absent::fills},
});
template <>
struct Rules<QuerySeries> {
    static void check(const QuerySeries& request, Wrong& wrong);
};

struct SeriesLine {
    std::map<std::string, std::string> labels;
    std::vector<std::optional<double>> values;
};
BOOST_DESCRIBE_STRUCT(SeriesLine, (), (labels, values))
template <>
inline constexpr auto fields<SeriesLine> = std::to_array<Field>({
    {.member = "labels", .help = "Of its group; of a device all, and `device`."},
    {.member = "values", .help = "One a step: of [from + i·step, from + (i+1)·step); null: no sample."},
});

struct SeriesAnswer {
    std::string metric;
    std::string unit;
    std::string over;
    std::string across;
    WallTime from;
    WallTime to;
    std::int64_t step = 0;
    std::vector<SeriesLine> lines;
};
BOOST_DESCRIBE_STRUCT(SeriesAnswer, (), (metric, unit, over, across, from, to, step, lines))
template <>
inline constexpr auto fields<SeriesAnswer> = std::to_array<Field>({
    {.member = "metric", .help = "Its full name.", .example = "gpu_utilization_percent"},
    {.member = "unit", .help = "Of the values; empty: a count.", .example = "%"},
    {.member = "over", .help = "What the samples of a step came to.", .example = "avg"},
    {.member = "across", .help = "What the devices of a group came to.", .example = "none"},
    {.member = "from", .help = "Where the first step begins."},
    {.member = "to", .help = "Where the last one ends."},
    {.member = "step", .help = "Of the values.", .example = "300", .unit = Unit::seconds},
    {.member = "lines", .help = "The highest mean first with `top`; else by their labels."},
});

// A line a step and line: time, value, then the labels.
std::string csv_of(const SeriesAnswer& answer);

}  // namespace hostler::api

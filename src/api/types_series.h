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
    {.member = "name", .help = "Name for queries; the unit at its end may be left out.", .example = "gpu_power_mw"},
    {.member = "of", .help = "Measured device: gpu, slice (of a partitioned GPU), host, volume, layer (files of a running "
                             "instance outside its volumes), or instance (a running one).", .example = "gpu"},
    {.member = "kind", .help = "gauge (goes up and down) or counter (only increases, until it restarts).",
     .example = "gauge"},
    {.member = "unit", .help = "Its unit; empty: a count, or bits.", .example = "mW"},
    {.member = "help", .help = "Description.", .example = "Power drawn, mean of about a second."},
});

// What `where` and `by` may name.
inline constexpr auto series_labels = std::to_array<QueryField>({
    {"zone", QueryKind::text, "The zone."},
    {"host", QueryKind::text, "The host's id."},
    {"host_name", QueryKind::text, "Host name of the machine."},
    {"gpu", QueryKind::text, "The GPU's id."},
    {"model", QueryKind::words, "The GPU's model, by its words."},
    {"class", QueryKind::words, "The model without memory and form: H100."},
    {"vendor", QueryKind::text, "nvidia, amd, intel or other.", "nvidia amd intel other"},
    {"use", QueryKind::text, "Kind of its holder: stock, instance (also a node of a cluster) or foreign; empty: none.",
     "stock instance foreign"},
    {"tenant", QueryKind::text, "Tenant that owns the instance or the cluster."},
    {"project", QueryKind::text, "Project of the instance or the cluster."},
    {"workload", QueryKind::text, "The instance, by its tenant's name for it."},
    {"cluster", QueryKind::text, "The cluster whose node holds it, by its name."},
    {"node", QueryKind::text, "That node, by its name."},
    {"namespace", QueryKind::text, "Namespace of the pod that has it."},
    {"pod", QueryKind::text, "That pod, by its name."},
    {"container", QueryKind::text, "The pod's container that has it; empty: several."},
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
    {.member = "metric", .help = "Name of the metric (/v1/series/metrics).", .example = "gpu_utilization",
     .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "where", .help = "Only of devices with these labels: LABEL=VALUE or LABEL!=VALUE (docs/use/series.md).",
     .example = "zone=lon model=h100", .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "from", .help = "The beginning. Default: `since` before the end."},
    {.member = "to", .help = "The end. Default: now."},
    {.member = "since", .help = "Length of the query up to its end. Default without `from`: an hour.", .example = "86400",
     .min = 1, .max = 10LL * 366 * 86'400, .unit = Unit::seconds},
    {.member = "step", .help = "Length of a step; the answer has one value for each. Default: about 200 steps.", .example = "300", .min = 1,
     .max = 366LL * 86'400, .unit = Unit::seconds},
    {.member = "over",
     .help = "Function over the samples of a step: avg, min, max, last, sum, count, quantile=0.95, and for counters "
             "increase or rate (per second). Default: avg, and rate for counters.",
     .example = "max", .max = 32, .absent = Absent::fills},
    {.member = "across",
     .help = "Function over the devices of a group: avg, sum, min, max, count, quantile=0.95, or none: a line for "
             "each device. Default: none; with `by` avg, and sum for counters.",
     .example = "avg", .max = 32, .absent = Absent::fills},
    {.member = "by", .help = "Labels that define the groups, with commas. Default: one group.",
     .example = "tenant,zone", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "top", .help = "Maximum number of lines, highest mean first; 0: all.", .example = "10",
     .min = 0, .max = 10'000, .absent = Absent::fills},
    {.member = "format", .help = "csv: as text/csv. Same as the header Accept: text/csv.", .absent = Absent::fills},
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
    {.member = "labels", .help = "Labels of its group; of a device all labels, and `device`."},
    {.member = "values", .help = "One value for each step [from + i·step, from + (i+1)·step); null: no sample."},
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
    {.member = "unit", .help = "Unit of the values; empty: a count.", .example = "%"},
    {.member = "over", .help = "Function over the samples of a step.", .example = "avg"},
    {.member = "across", .help = "Function over the devices of a group.", .example = "none"},
    {.member = "from", .help = "Beginning of the first step."},
    {.member = "to", .help = "End of the last step."},
    {.member = "step", .help = "Length of a step.", .example = "300", .unit = Unit::seconds},
    {.member = "lines", .help = "With `top`, highest mean first; else by their labels."},
});

// A line a step and line: time, value, then the labels.
std::string csv_of(const SeriesAnswer& answer);

}  // namespace hostler::api

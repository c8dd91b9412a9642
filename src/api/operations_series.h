// Metrics of GPUs and hosts, over time.
#pragma once

#include "api/operation.h"
#include "api/types_series.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<SeriesMetric>> list_series_metrics{{
    .name = "listSeriesMetrics", .path = "/v1/series/metrics", .permission = Permission::gpu_usage,
    .help = "List the metrics of GPUs and hosts.", .list = true, .pages = Pages::own, .query = true, .noun = "metrics", .verb = "list",
    .columns = "name unit kind help"}};
inline constexpr Typed<QuerySeries, SeriesAnswer> query_series{{
    .name = "querySeries", .path = "/v1/series", .permission = Permission::gpu_usage,
    .help = "Query a metric over time: with a tenant's key of its instances' devices, with an operator's of all.",
    .noun = "metrics", .verb = "query", .argument = "metric",
    .example = "metrics query gpu_utilization --where 'zone=lon' --by tenant --since 24h --step 5m"}};

}  // namespace hostler::api::ops

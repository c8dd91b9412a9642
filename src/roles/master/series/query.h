// What somebody asks of series, as a question to the store.
#pragma once

#include "api/handlers.h"
#include "domain/series/query.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct QuerySeries;
struct SeriesAnswer;
struct SeriesMetric;
}  // namespace hostler::api

namespace hostler::master {

// A tenant's key asks of what its own instances held, whatever else it says. Errors: invalid (too many steps,
// a beginning behind the end).
Result<series::Query> series_query(const Desk& desk, const api::Call& call, const api::QuerySeries& request,
                                   WallTime now);

// What `where` and a tenant's key narrow a question down to. Errors: invalid.
Result<std::vector<series::Match>> series_where(const Desk& desk, std::string_view where,
                                                const api::Caller& caller);

// As `where` says LABEL=VALUE of one of series_labels.
series::Match series_match(const Desk& desk, std::string_view label, std::string value);

// Errors: exhausted (more values than an answer holds).
Result<api::SeriesAnswer> series_answer(const api::QuerySeries& request, const series::Query& query,
                                        std::vector<series::Line> lines);
inline constexpr std::size_t series_values_max = 100'000;  // Of an answer.

std::vector<api::SeriesMetric> series_metrics();

}  // namespace hostler::master

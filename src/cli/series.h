// Answers of `hostler metrics query`, for people and as CSV.
#pragma once

#include <boost/json.hpp>

#include "api/types_series.h"
#include "cli/text.h"

namespace hostler::cli {

// A row a line: its labels, how far it went, and a picture of its steps.
// `columns` of the terminal; 0: unknown.
std::string series_table(const api::SeriesAnswer& answer, int columns);

// At most `width` letters of eight heights between `low` and `high`, of the mean of what falls into each; a
// gap is blank.
std::string sparkline(const std::vector<std::optional<double>>& values, std::size_t width, double low,
                      double high);

// As a table or as CSV. Errors: internal (it is no such answer).
Result<std::string> render_series(const json::value& answer, const Style& style);

}  // namespace hostler::cli

// The words in which a query of series says what it wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/series/query.h"

namespace hostler::api {

struct SeriesOver {
    series::Over over = series::Over::avg;
    double quantile = 0.5;
};
struct SeriesAcross {
    series::Across across = series::Across::none;
    double quantile = 0.5;
};

// "avg", "quantile=0.95"; empty: avg. Errors: invalid.
Result<SeriesOver> over_of(std::string_view text);
// The same; empty: none.
Result<SeriesAcross> across_of(std::string_view text);
// "tenant,zone". Errors: invalid (a label that there is not, or twice).
Result<std::vector<std::string>> labels_of(std::string_view text);
// Says which were probably meant, of those of series and `more`: those that it is near to, or begins; else
// all.
std::unexpected<Error> unknown_label(std::string_view label, const std::vector<std::string_view>& more = {});

}  // namespace hostler::api

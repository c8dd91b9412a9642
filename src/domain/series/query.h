// A question about series, and its answer.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "domain/series/sample.h"

namespace hostler::series {

// Devices whose `label` is one of `values` – or, with `differs`, none of them. An absent label is "".
struct Match {
    std::string label;
    std::vector<std::string> values;
    bool differs = false;
};

// What the samples of one device in one step come to.
enum class Over {
    last,
    avg,
    min,
    max,
    sum,
    count,
    quantile,  // By `over_quantile`, between the two nearest samples in proportion. Of what was down-sampled:
               // each point is its mean, as often as it has samples.
    increase,  // Of a counter; a beginning anew counts from zero. The step's first sample counts from the one
               // before it.
    rate,      // The same a second, over the time between these samples.
};

// What the devices of a group come to, step by step.
enum class Across { none, sum, avg, min, max, count, quantile };

struct Query {
    std::string metric;  // Name of a column.
    std::vector<Match> where{};
    Millis from = 0;  // Steps are [from + i·step, from + (i+1)·step), as many as begin before `to`; the last
    Millis to = 0;    // ends at `to`.
    Millis step = 60'000;
    Over over = Over::avg;
    double over_quantile = 0.5;
    Across across = Across::none;
    double across_quantile = 0.5;
    std::vector<std::string> by{};  // Labels that make the groups; none: one group.
    std::size_t top = 0;            // Only so many lines: those whose mean is highest. 0: all.
};

inline constexpr Millis far = Millis{1} << 53;  // No time lies further from 1970, no step is longer.
inline constexpr std::size_t steps_max = 11'000;
inline constexpr std::size_t cells_max = 20'000'000;  // Lines × steps of an evaluation under way.

struct Line {
    Labels labels;               // Of its group; with Across::none all, and "device".
    std::vector<double> values;  // One a step; NaN: no sample.
};

// Errors: invalid.
Result<> check(const Query& query);

bool matches(const Query& query, const Labels& labels);

// The value at `q` (0 … 1) of the way through; `values` is not empty and is left sorted.
double quantile(std::vector<double>& values, double q);

// What `point`, a whole step, comes to; not for Over::quantile. NaN: nothing.
double value_of(Over over, const Point& point);

// Highest mean first (equal ones by their labels), and no more than `top`; 0: all, by their labels.
void order(std::vector<Line>& lines, std::size_t top);

}  // namespace hostler::series

// How often a rule would have fired over what is stored.
#pragma once

#include "domain/alert/evaluate.h"

namespace hostler::alert {

// Number of firings of one label set, which is looked at once at the end of each step. A firing that ends
// within `clear_s` and begins again is one, as it is of a rule that is looked at while it happens.
std::size_t firings(const Rule& rule, const series::Line& line, Duration step);

// The length of the steps of a look back over `back`, for so many lines: not shorter than the rule's window,
// and so that there are at most `points_max` values, and series::steps_max steps.
series::Millis replay_step(const Rule& rule, Duration back, std::uint64_t lines, std::uint64_t points_max);

}  // namespace hostler::alert

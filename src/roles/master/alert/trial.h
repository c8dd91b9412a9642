// Would this rule have fired: its expression over the stored series of the last days.
#pragma once

#include "roles/master/leader/term.h"

namespace hostler::api {
struct WouldFire;
}  // namespace hostler::api

namespace hostler::master {

inline constexpr std::chrono::hours trial_back{7 * 24};
inline constexpr std::uint64_t trial_points_max = 1'000'000;  // Values that one trial looks at.

// `who`: the caller, who has one at a time. It never fails: without a number it says why.
Task<api::WouldFire> would_fire(TermPtr term, std::string who, alert::Rule rule);

}  // namespace hostler::master

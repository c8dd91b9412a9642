// What tests of deliberate mistakes have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "store_behind.h"
#include "storm.h"

namespace hostler::simulation {

inline constexpr std::uint64_t seeds_max = 50;

// Rides until the checker reports, in words with `saying` in them. 0: it never does.
inline std::uint64_t seeds_until(Invariant invariant, Weather weather,
                                 const std::function<Mistakes(std::uint64_t)>& mistakes, int masters = 1,
                                 const std::string& saying = "") {
    for (std::uint64_t seed = 1; seed <= seeds_max; ++seed) {
        const StormReport report =
            ride({.seed = seed, .weather = weather, .masters = masters, .calm_max = 2min}, mistakes(seed));
        if (std::ranges::none_of(report.found.all(), [&](const Finding& finding) {
                return finding.invariant == invariant && finding.text.contains(saying);
            }))
            continue;
        fmt::print("found by seed {}: {}\n", seed, report.found.all().front().text.substr(0, 160));
        return seed;
    }
    return 0;
}

}  // namespace hostler::simulation

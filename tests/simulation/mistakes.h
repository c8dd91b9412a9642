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

// Changes the estate as a wrong rule would, with this chance in a second.
inline Mistakes wrong_rule(std::uint64_t seed, double a_second,
                           std::function<void(master::Desk&, sim::Dice&)> rule) {
    Mistakes mistakes;
    auto dice = std::make_shared<sim::Dice>(sim::Dice{seed}.fork("mistake"));
    mistakes.each_second = [dice, a_second, rule = std::move(rule)](Cloud&, master::Term& term) {
        if (!dice->chance(a_second)) return;
        rule(term.desk("mistake"), *dice);
        term.commit_then(nullptr);
    };
    return mistakes;
}

template <class Row, class Which>
const Row* any_of(const master::Table<Row>& table, Which which) {
    for (const auto& [id, row] : table.all())
        if (which(row)) return &row;
    return nullptr;
}

}  // namespace hostler::simulation

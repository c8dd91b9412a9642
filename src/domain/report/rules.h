// What held the work of a GPU back, as a table: a verdict needs figures that say so. Where they are missing
// there is none.
#pragma once

#include <span>

#include "domain/report/figures.h"
#include "domain/report/report.h"

namespace hostler::report {

enum class Sign { at_least, below };

struct Condition {
    Figure figure;
    Sign sign = Sign::at_least;
    double threshold = 0;  // In the figure's unit.
};

struct Rule {
    Verdict verdict;
    std::span<const Condition> all;  // Each of them,
    std::span<const Condition> any;  // and one of these, if there are any.
    std::span<const Figure> evidence;
    std::string_view help;    // What it means,
    std::string_view advice;  // and what to do.
    std::string_view source;  // Of the thresholds.
};

// In this order: the first that holds is the verdict.
std::span<const Rule> rules();
const Rule& rule_of(Verdict verdict);
std::string_view words(Verdict verdict);  // "input-bound"

bool holds(const Condition& condition, const Figures& figures);  // Not of a figure that was not measured.

// nullptr: nothing stands out, or too little was measured. `figures` are complete().
const Rule* judge(const Figures& figures);

inline constexpr double idle_below_percent = 5;  // Utilisation of a GPU that does nothing to speak of.

// What to do about idle hours, by their part of those that were claimed.
std::string_view waste_advice(double idle_percent, bool idle_at_the_end);

}  // namespace hostler::report

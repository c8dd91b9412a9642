// A report: what became of GPUs over a time, by the labels that were asked for.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler::report {

inline constexpr std::int64_t span_max_s = 366 * 86'400;  // That a report is about.
inline constexpr std::int64_t lines_max = 10'000;         // Of a section: groups.

using Labels = std::map<std::string, std::string>;

// Hours are GPU-hours in which samples came: of a silent host nothing is counted.
struct UsageLine {
    Labels labels;
    int gpus = 0;               // Different ones.
    double measured_hours = 0;  // claimed + other + free.
    double claimed_hours = 0;   // Held by instances: busy + idle + unknown, and what of it was between.
    double other_hours = 0;     // In stock, or held by what is not in the store.
    double free_hours = 0;
    double busy_hours = 0;     // Claimed hours × utilisation: as many hours of a GPU that is never idle.
    double idle_hours = 0;     // Claimed, in steps with hardly any work.
    double unknown_hours = 0;  // Claimed, and its utilisation was not measured.
    std::optional<double> utilization_percent{};  // Of claimed hours with a measured utilisation.
    std::optional<double> memory_used_percent{};  // Of claimed hours.
    double energy_kwh = 0;                        // Of all measured hours.
};
BOOST_DESCRIBE_STRUCT(UsageLine, (),
                      (labels, gpus, measured_hours, claimed_hours, other_hours, free_hours, busy_hours,
                       idle_hours, unknown_hours, utilization_percent, memory_used_percent, energy_kwh))

// A sum of money.
struct Cost {
    std::string amount;    // "12.50"
    std::string currency;  // "USD"
};
BOOST_DESCRIBE_STRUCT(Cost, (), (amount, currency))

// What was held and not used.
struct WasteLine {
    Labels labels;
    int gpus = 0;
    double claimed_hours = 0;
    double idle_hours = 0;
    double idle_percent = 0;                      // Of claimed hours.
    double longest_hours = 0;                     // Without a break, of one GPU.
    std::optional<WallTime> idle_since{};         // One of them still is, at the end.
    std::optional<double> memory_used_percent{};  // While idle.
    double energy_kwh = 0;                        // While idle.
    std::string advice;
    std::vector<Cost> idle_costs{};  // Price of the idle hours, by currency; empty: no price held.
};
BOOST_DESCRIBE_STRUCT(WasteLine, (),
                      (labels, gpus, claimed_hours, idle_hours, idle_percent, longest_hours, idle_since,
                       memory_used_percent, energy_kwh, advice, idle_costs))

enum class Verdict { idle, thermal_bound, power_bound, pcie_bound, memory_bound, compute_bound, input_bound };
BOOST_DESCRIBE_ENUM(Verdict, idle, thermal_bound, power_bound, pcie_bound, memory_bound, compute_bound,
                    input_bound)

struct Evidence {
    std::string figure;  // "GPU memory busy"
    double value = 0;    // Mean of the hours with this verdict.
    std::string unit;    // "%"
};
BOOST_DESCRIBE_STRUCT(Evidence, (), (figure, value, unit))

struct Finding {
    Labels labels;
    Verdict verdict = Verdict::idle;
    double hours = 0;
    double percent = 0;  // Of claimed hours with a measured utilisation.
    std::vector<Evidence> evidence;
    std::string advice;
};
BOOST_DESCRIBE_STRUCT(Finding, (), (labels, verdict, hours, percent, evidence, advice))

// One part of the time: how many GPUs on average.
struct Slice {
    WallTime from;
    double gpus = 0;
    double claimed = 0;
    double busy = 0;
    double idle = 0;
};
BOOST_DESCRIBE_STRUCT(Slice, (), (from, gpus, claimed, busy, idle))

struct Report {
    WallTime from;
    WallTime to;
    std::int64_t step = 0;  // Seconds. Whether a GPU was idle, and what bound it, is judged step by step.
    std::string by;         // Labels, with commas.
    UsageLine total;
    std::vector<UsageLine> usage;      // Most claimed hours first;
    std::vector<WasteLine> waste;      // most idle hours first;
    std::vector<Finding> bottlenecks;  // most hours first.
    std::vector<Slice> timeline;
    int left_out = 0;                // Groups beyond the highest that were asked for.
    std::vector<Cost> idle_costs{};  // Of all groups.
};
BOOST_DESCRIBE_STRUCT(Report, (),
                      (from, to, step, by, total, usage, waste, bottlenecks, timeline, left_out, idle_costs))

}  // namespace hostler::report

// The experiment of "Beware of Fragmentation": tasks come until 130 % of all GPUs are asked for; none leaves,
// none comes again. How much is allocated, who is refused, how long a decision takes.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/placement/policies.h"

namespace hostler::bench {

struct Row {
    std::string name, unit;
    double value = 0;
    double deviation = -1;  // Over the seeds; below 0: there is none.
};

struct Outcome {
    std::map<int, double> allocated;        // Percent of all GPUs, at so many percent arrived.
    std::map<std::string, double> refused;  // Percent of the tasks of a size, of those until 100 % arrived.
    std::vector<double> decisions_us;
};

struct Decided {
    std::size_t arrival = 0;
    const Task* task = nullptr;
    const std::optional<Choice>* choice = nullptr;
    std::int64_t allocated_milli = 0;
};

Outcome run_experiment(const Trace& trace, std::string_view policy, std::uint32_t seed,
                       const std::function<void(const Decided&)>& told);

// alloc-85 …, reject-… and decision-… : means over the outcomes, with standard deviations.
std::vector<Row> summarize(const std::vector<Outcome>& outcomes);

// Decision time and memory at several sizes of fleet, made of copies of the trace's hosts, beside a plain
// rescan.
std::vector<Row> run_scale(const Trace& trace, const std::vector<std::size_t>& sizes);

}  // namespace hostler::bench

// Hosts and tasks of a trace in the CSV form of Alibaba's cluster-trace-gpu-v2023, and the order in which
// they come.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "domain/scheduler/shape.h"

namespace hostler::bench {

// The generator of CPython's `random`, seeded as `random.Random(seed)` is: the published sequences come from
// it.
class Dice {
public:
    explicit Dice(std::uint32_t seed);
    std::uint32_t below(std::uint32_t bound);
    template <class T>
    void shuffle(std::vector<T>& things) {
        for (std::size_t i = things.size(); i-- > 1;)
            std::swap(things[i], things[below(static_cast<std::uint32_t>(i) + 1)]);
    }

private:
    std::uint32_t next();
    std::array<std::uint32_t, 624> state_{};
    std::size_t index_ = 0;
};

struct Task {
    std::string name;
    std::string gpu_spec;  // As in the file.
    Shape shape;
    std::size_t kind = 0;  // Tasks that ask for the same are of one kind.
    std::int64_t gpu_milli() const { return std::int64_t{shape.gpus} * shape.gpu_milli; }
};

struct Trace {
    std::vector<std::string> names;  // Of the hosts.
    std::vector<Machine> hosts;
    std::vector<Task> tasks;
    std::vector<Shape> kinds;
    std::int64_t capacity_milli = 0;  // All GPUs.
};

// Hosts without GPUs are left out. Errors: invalid: the file and the line that cannot be read.
Result<Trace> read_trace(const std::string& nodes, const std::string& pods);

// Hosts in an order of their own, which decides between equals: `random.Random(seed).shuffle`.
void shuffle_hosts(Trace& trace, std::uint32_t seed);

// Every task once, shuffled, then tasks drawn with replacement until 130 % of all GPUs are asked for: their
// numbers.
std::vector<std::size_t> arrivals(const Trace& trace, std::uint32_t seed);

}  // namespace hostler::bench

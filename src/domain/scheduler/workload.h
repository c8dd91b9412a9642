// What is usually asked, learned from what arrives: a prior first, then counts that fade. Never the future.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "domain/scheduler/shape.h"

namespace hostler {

// A shape as the sketch of a workload knows it: memory and models left out.
struct TypicalShape {
    std::int64_t cpu_milli = 0;
    int gpus = 0;
    int gpu_milli = 0;
    auto operator<=>(const TypicalShape&) const = default;
};

struct Typical {
    TypicalShape shape;
    float share = 0;  // Of all that the sketch covers; their sum is 1.
    bool operator==(const Typical&) const = default;
};

class Workload {
public:
    static constexpr int typical_max = 64;
    static constexpr double covered =
        0.9;                              // Of arrivals with GPUs: the commonest shapes that make this much.
    static constexpr double drift = 0.1;  // A sketch this far from the last (sum of differences) replaces it.
    static constexpr int look_every = 1024;       // Arrivals between two looks; the first looks come sooner.
    static constexpr int remembered = 16 * 1024;  // Arrivals until all counts are halved.
    static constexpr int shapes_max = 4096;       // Kept apart; beyond, counts are halved early.
    static constexpr int model_sets_max = 32;     // Kept apart; beyond, the least asked for is forgotten.

    Workload();
    void arrive(const Shape&);
    // Replaced only when what arrives has changed; then generation() grows.
    const std::vector<Typical>& sketch() const { return sketch_; }
    std::uint32_t generation() const { return generation_; }

    // GPU demand by the models that would do, and all of it: thousandths, fading.
    const std::map<std::uint64_t, std::int64_t>& by_models() const { return by_models_; }
    std::int64_t gpu_milli() const { return gpu_milli_; }

private:
    void count(const Shape&, std::int64_t weight);
    void halve();
    void look();

    std::map<TypicalShape, std::int64_t> counts_;  // Of arrivals with GPUs, in `unit`s.
    std::map<std::uint64_t, std::int64_t> by_models_;
    std::int64_t total_ = 0, gpu_milli_ = 0;
    std::int64_t arrivals_ = 0, next_look_ = 8;
    std::vector<Typical> sketch_;
    std::uint32_t generation_ = 0;
};

}  // namespace hostler

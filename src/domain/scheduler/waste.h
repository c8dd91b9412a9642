// How much of a host's free GPU is of little use for what is usually asked, and how a placement changes that:
// fragmentation as in Weng et al., "Beware of Fragmentation", USENIX ATC'23, looked at several tasks ahead.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "domain/scheduler/shape.h"
#include "domain/scheduler/workload.h"

namespace hostler {

// decisions/0029 says why it is as it is, and what the figures were tried against.
class Waste {
public:
    // Of the waste of one shape: what lies on GPUs too small for it; the rest is what its copies leave.
    static constexpr float too_small = 0.8F;
    static constexpr float several_gpus = 1 / 32.0F;  // How much shapes of several GPUs count for.

    explicit Waste(const std::vector<Typical>& sketch);

    // Thousandths of GPUs on this machine that what is usually asked could not use.
    float of(const Machine& machine);

    struct Score {
        int points = -1;  // 0 to 100, 50: changes nothing; -1: does not fit. More is better.
        int gpu = -1;     // For a share: the GPU it is for.
    };
    // What placing `shape` there is worth. `before` is of(machine).
    Score score(const Shape& shape, const Machine& machine, float before);

private:
    static constexpr std::size_t lanes = 8;
    using Lanes = std::array<float, lanes>;
    // For each typical shape, of a GPU with so much free: what is too small for it, and how often it goes in.
    struct Row {
        std::vector<Lanes> small, copies;
    };
    struct Sums {
        std::array<Lanes, Workload::typical_max / lanes> small, copies;
    };

    const Row& row(int free);
    void add(Sums& sums, int free);
    void move(Sums& sums, int from, int to);
    void clear(Sums& sums) const;
    float weigh(const Sums& sums, int free_milli, std::int64_t cpu_milli) const;
    Score share(const Shape& shape, const Machine& machine, float before, Sums& sums, int free_milli);

    std::size_t groups_ = 0;  // Of `lanes` typical shapes; the last is filled up with shapes of no weight.
    std::vector<Lanes> weight_, cpu_, cpu_inverse_, gpus_inverse_, unit_;
    std::vector<TypicalShape> shapes_;
    std::array<std::int16_t, gpu_whole + 1> row_of_{};
    std::vector<Row> rows_;
};

}  // namespace hostler

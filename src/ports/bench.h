// Measures what a host can do, by doing it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/task.h"
#include "domain/inventory/challenge.h"
#include "domain/inventory/host.h"
#include "domain/inventory/measured.h"

namespace hostler {

// Takes GPUs of the machine for a while: nothing else is to use them. Cancelled, it lets go of them
// before it ends.
class GpuBench {
public:
    virtual ~GpuBench() = default;

    // Why these GPUs cannot be measured, a sentence; empty: they can, as far as is known. At once.
    virtual std::string unable(const HostFacts& facts) const = 0;

    struct Figures {
        std::vector<GpuFigures> gpus;
        std::vector<std::string> problems;  // Sentences: of no one GPU, or why something is missing.
        bool complete = false;              // It got to its end.
        bool absent = false;                // There is nothing here to measure GPUs with.
    };
    // `gpu`: of this one alone, the others may be in use; empty: of all. Errors: unavailable, cancelled.
    virtual Task<Figures> measure(std::string gpu) = 0;

    struct Proofs {
        std::vector<GpuProof> gpus;
        std::vector<std::string> problems;
        bool complete = false;
    };
    // `challenge` without `path_seed`: that is asked for once all memory is filled, and an error of it ends
    // all. Errors: those of `path_seed`; unavailable, cancelled.
    using PathSeed = std::function<Task<std::uint32_t>()>;
    virtual Task<Proofs> prove(GpuChallenge challenge, PathSeed path_seed) = 0;
};

class DiskBench {
public:
    virtual ~DiskBench() = default;
    // Leaves nothing behind. What could not be measured is in `skipped`. Errors: cancelled.
    virtual Task<DiskFigures> measure() = 0;
};

}  // namespace hostler

// The GpuBench port on CUDA, in a process of its own.
#pragma once

#include "adapters/cuda/benchmark.h"
#include "adapters/cuda/challenge.h"
#include "ports/bench.h"

namespace hostler::cuda {

struct BenchSettings {
    std::vector<std::string> measure;  // The program of BenchmarkSettings,
    std::vector<std::string> prove;    // and of ChallengeSettings.
    std::string library;  // Of CUDA; empty: where drivers put it, and simulated GPUs are not measured.
    Duration each = std::chrono::seconds{10};
};

class CudaBench final : public GpuBench {
public:
    CudaBench(Timers& timers, BenchSettings settings) : timers_(timers), settings_(std::move(settings)) {}
    std::string unable(const HostFacts& facts) const override;
    Task<Figures> measure(std::string gpu) override;
    Task<Proofs> prove(GpuChallenge challenge, PathSeed path_seed) override;

private:
    Timers& timers_;
    BenchSettings settings_;
};

}  // namespace hostler::cuda

// Benchmarks that take simulated time: GPUs do what their model does, unless they are not what they say.
#pragma once

#include "adapters/sim/telemetry.h"
#include "core/timers.h"
#include "ports/bench.h"

namespace hostler::sim {

class SimGpuBench final : public GpuBench {
public:
    SimGpuBench(Timers& timers, Gpus& gpus) : timers_(timers), gpus_(gpus) {}
    std::string unable(const HostFacts& facts) const override;
    Task<Figures> measure(std::string gpu) override;
    Task<Proofs> prove(GpuChallenge challenge, PathSeed path_seed) override;

private:
    Timers& timers_;
    Gpus& gpus_;
};

class SimDiskBench final : public DiskBench {
public:
    explicit SimDiskBench(Timers& timers) : timers_(timers) {}
    Task<DiskFigures> measure() override;

private:
    Timers& timers_;
};

}  // namespace hostler::sim

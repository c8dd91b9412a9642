#include "adapters/cuda/bench.h"

#include <algorithm>

namespace hostler::cuda {

std::string CudaBench::unable(const HostFacts& facts) const {
    if (facts.gpus.empty()) return "It has no GPUs.";
    if (std::ranges::none_of(
            facts.gpus, [](auto vendor) { return vendor == GpuVendor::nvidia; }, &GpuFacts::vendor))
        return "Only NVIDIA GPUs are measured.";
    if (facts.simulated && settings_.library.empty()) return "Its GPUs are simulated.";
    return {};
}

Task<GpuBench::Figures> CudaBench::measure(std::string gpu) {
    BenchmarkReport report = CO_TRY(co_await run_benchmark(timers_, {.program = settings_.measure,
                                                                     .library = settings_.library,
                                                                     .gpu = std::move(gpu),
                                                                     .each = settings_.each}));
    co_return Figures{std::move(report.gpus), std::move(report.problems), report.complete, report.absent};
}

Task<GpuBench::Proofs> CudaBench::prove(GpuChallenge challenge, PathSeed path_seed) {
    ChallengeReport report = CO_TRY(co_await run_challenge(timers_, {.program = settings_.prove,
                                                                     .library = settings_.library,
                                                                     .challenge = challenge,
                                                                     .path_seed = std::move(path_seed)}));
    co_return Proofs{std::move(report.gpus), std::move(report.problems), report.complete};
}

}  // namespace hostler::cuda

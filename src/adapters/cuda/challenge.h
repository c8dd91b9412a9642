// Has this machine's GPUs prove, all at the same time, that they are there and have the memory that they
// claim.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/timers.h"
#include "domain/inventory/challenge.h"

namespace hostler::cuda {

struct ChallengeSettings {
    std::vector<std::string> program;  // As BenchmarkSettings::program, of prove_gpus.
    std::string library;
    GpuChallenge challenge;  // `path_seed` stays here until all memory is filled.
    Duration silence_max = std::chrono::seconds{120};
    // Asked for the seed of the paths when all memory is filled, instead of `challenge`; its error ends all.
    std::function<Task<std::uint32_t>()> path_seed{};
};

struct ChallengeReport {
    std::vector<GpuProof> gpus;
    std::vector<std::string> problems;
    bool complete = false;
};

// Errors: as run_benchmark.
Task<ChallengeReport> run_challenge(Timers& timers, ChallengeSettings settings);

// One line that prove_gpus() wrote.
void take_line(std::string_view line, ChallengeReport& into);

}  // namespace hostler::cuda

// `hostler-agent gpu …`: what the GPUs of this machine say of themselves, and what they can do.
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "core/timers.h"
#include "ports/telemetry.h"

namespace hostler::bin {

enum class GpuFormat { table, json };

// All that each GPU tells at this moment.
Task<> show_gpus(std::vector<Telemetry*> eyes, GpuFormat format);

// That nothing else uses the GPUs. Errors: conflict (something does, or may: nothing tells); not_found (the
// GPUs' own library is missing).
Task<> see_unused(std::vector<Telemetry*> eyes);

struct BenchmarkWish {
    Duration each = std::chrono::seconds{10};
    std::string cuda;         // Path of libcuda.so.1; empty: where drivers put it.
    bool in_use_too = false;  // Measure although processes hold a GPU.
    GpuFormat format = GpuFormat::table;
};
// Errors: as see_unused, unless `in_use_too`; not_found (there is nothing that CUDA could measure);
// unavailable (the measurement did not end: what it found is printed, and unrated).
Task<> benchmark_gpus(Timers& timers, std::vector<Telemetry*> eyes, BenchmarkWish wish);

struct ChallengeWish {
    std::uint64_t words = 0;  // 0: nine tenths of what is free.
    std::uint32_t rounds = 1024;
    std::uint32_t steps = 10'000;
    std::uint32_t walkers = 4096;
    std::string cuda;
    bool in_use_too = false;
    GpuFormat format = GpuFormat::table;
};
// Errors: as see_unused, unless `in_use_too`; not_found (nothing answered); conflict (an answer was wrong or
// is missing); unavailable (it did not end).
Task<> challenge_gpus(Timers& timers, Random& random, std::vector<Telemetry*> eyes, ChallengeWish wish);

// The process that challenge_gpus() starts.
int prove_main(const ChallengeWish& wish, std::uint32_t seed);
inline constexpr const char* prove_command = "prove";

// The process that benchmark_gpus() starts: measures, and ends with the process that wanted it.
int measure_main(const std::string& cuda, const std::string& gpu, double seconds);
inline constexpr const char* measure_command = "measure";

}  // namespace hostler::bin

// Measures this machine's GPUs in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "core/timers.h"
#include "domain/inventory/challenge.h"
#include "domain/inventory/figures.h"

namespace hostler::cuda {

struct BenchmarkSettings {
    // The program that measures, with its first arguments; measure_gpus' are added.
    std::vector<std::string> program;
    std::string library;                       // Of CUDA; empty: where drivers put it.
    std::string gpu{};                         // UUID of the only one to measure; empty: all.
    Duration each = std::chrono::seconds{10};  // For each GPU, about.
    Duration silence_max =
        std::chrono::seconds{60};  // Of the process beyond `each`; then it hangs, and is killed.
    std::size_t lines_max = 100'000;
};

struct BenchmarkReport {
    std::vector<GpuFigures> gpus;
    std::vector<std::string> problems;  // Sentences: of no one GPU, or why something is missing.
    bool complete = false;              // The process said all that it wanted.
    bool absent = false;                // There is no CUDA.
};

// Whatever happens to the process, what it said before is in the report. Errors: unavailable (no process can
// be made); cancelled (the process is gone then).
Task<BenchmarkReport> run_benchmark(Timers& timers, BenchmarkSettings settings);

// One line that measure_gpus() wrote. What cannot be read is left out.
void take_line(std::string_view line, BenchmarkReport& into);

}  // namespace hostler::cuda

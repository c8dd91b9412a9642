// How fast a host's disk is: one file, written and read past the system's cache.
#pragma once

#include <memory>
#include <string>

#include "core/timers.h"
#include "core/worker.h"
#include "ports/bench.h"

namespace hostler::disk {

struct BenchLimits {
    std::size_t bytes_max = std::size_t{256} << 20;     // Written, and read once.
    std::chrono::milliseconds time_max{5000};           // For each; what was done by then counts.
    std::size_t free_bytes_min = std::size_t{4} << 30;  // Less is not filled further.
};

// In this folder, which exists. The worker outlives it.
std::unique_ptr<DiskBench> make_bench(Worker& worker, std::string folder, BenchLimits limits = {});

}  // namespace hostler::disk

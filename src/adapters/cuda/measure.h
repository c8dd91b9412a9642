// What the process that measures does. Whatever a broken driver does to it (a crash, a hang), it does to no
// other.
#pragma once

#include <cstdio>
#include <string>

#include "domain/inventory/challenge.h"

namespace hostler::cuda {

struct MeasureSettings {
    std::string library;                            // Path of libcuda.so.1; empty: where drivers put it.
    std::string gpu{};                              // UUID of the only one to measure; empty: all.
    double seconds = 10;                            // About so long for each GPU.
    std::size_t copy_bytes = std::size_t{1} << 30;  // At most, of each of two; a quarter of what is free.
    std::size_t transfer_bytes = std::size_t{128} << 20;  // At most, of host and of GPU.
    int memory_percent = 90;  // Of what is free: so much is written and read back.
};

// Both write lines to `out` as they learn something, and flush each:
//   UUID KEY VALUE      a member of GpuFigures or GpuProof; or "skipped", "fault", several perhaps
//   problem SENTENCE    of no one GPU
//   absent SENTENCE     the same: there is no CUDA
//   end                 the last one: nothing is missing
// The exit status of the process: 0, also when GPUs have faults; 3 without CUDA or GPUs; 1 when CUDA fails.
int measure_gpus(const MeasureSettings& settings, std::FILE* out);

// All GPUs at the same time, each with seeds of its own (own_challenge). `words` 0: nine tenths of what is
// free. When all have filled their memory it says "filled", and reads the seed of the paths: a number on a
// line of `in`.
int prove_gpus(const std::string& library, const GpuChallenge& challenge, std::FILE* in, std::FILE* out);

}  // namespace hostler::cuda

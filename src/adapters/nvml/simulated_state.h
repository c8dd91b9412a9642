// Writes and edits the state file of the simulated NVML (its format: src/simulated_nvml/README.md).
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

// A machine whose GPUs do not exist.
struct SimulatedHost {
    std::string hostname;  // The GPUs' UUIDs and serial numbers follow from it: the same name, the same GPUs.
    int gpus = 8;          // 0 … 16
    std::string model = "H100 SXM5 80GB";  // As find_gpu_model knows it; of NVIDIA.
};

// The text of a state file: idle GPUs in good health, SXM models joined all-to-all by NVLink through
// switches. Errors: invalid.
Result<std::string> simulated_state(const SimulatedHost& host);

// `state` with one setting changed: every line of `key` in the section goes, then `value` is added unless it
// is empty. `gpu` -1: the system's section. Errors: not_found (no such section).
Result<std::string> with_setting(std::string_view state, int gpu, std::string_view key,
                                 std::string_view value);
// The same, but lines that are there stay: for `process`, `event`, `error`.
Result<std::string> with_line(std::string_view state, int gpu, std::string_view key, std::string_view value);

// Replaces the file at once, so that a reader never sees half of it. Errors: unavailable.
Result<> write_simulated_state(const std::string& path, std::string_view state);

}  // namespace hostler

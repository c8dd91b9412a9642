// How fast each model of the catalogue is by its maker's data sheet.
#pragma once

#include <span>
#include <string_view>

namespace hostler {

// Dense figures, as data sheets have them without sparsity; 0: not stated. TFLOPS are 10^12 operations a
// second, a fused multiply-add counting as two. GeForce: the rate with fp32 sums. Sources: the makers' data
// sheets, and tables that quote them, as of November 2026.
struct GpuSpeeds {
    std::string_view model;  // GpuModel::name
    int memory_gb_s;         // 10^9 bytes a second, as printed.
    double fp32_tflops;      // Without matrix units.
    double bf16_tflops;      // Of the matrix units (fp16 and bf16 are the same).
};

std::span<const GpuSpeeds> gpu_speeds();
const GpuSpeeds* find_gpu_speeds(std::string_view model);  // nullptr: none is known.

}  // namespace hostler

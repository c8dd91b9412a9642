#include "domain/inventory/speeds.h"

#include <algorithm>

namespace hostler {

namespace {

// clang-format off
constexpr GpuSpeeds speeds[] = {
    {"H100 SXM5 80GB", 3350, 67, 989},
    {"H100 PCIe 80GB", 2000, 51.2, 756},
    {"H100 NVL 94GB", 3900, 60, 835},
    {"H200 SXM 141GB", 4800, 67, 989},
    {"H200 NVL 141GB", 4800, 60, 835},
    {"H800 SXM5 80GB", 3350, 67, 989},
    {"H800 PCIe 80GB", 2000, 51.2, 756},
    {"H20 96GB", 4000, 44, 148},
    {"B200 180GB", 8000, 80, 2250},
    {"GB200 186GB", 8000, 80, 2500},
    {"B300 288GB", 8000, 80, 2250},
    {"GB300 288GB", 8000, 80, 2500},
    {"A100 SXM4 80GB", 2039, 19.5, 312},
    {"A100 SXM4 40GB", 1555, 19.5, 312},
    {"A100 PCIe 80GB", 1935, 19.5, 312},
    {"A100 PCIe 40GB", 1555, 19.5, 312},
    {"A800 SXM4 80GB", 2039, 19.5, 312},
    {"A800 PCIe 80GB", 1935, 19.5, 312},
    {"A30 24GB", 933, 10.3, 165},
    {"A40 48GB", 696, 37.4, 149.7},
    {"A10 24GB", 600, 31.2, 125},
    {"A16 16GB", 200, 4.34, 17.36},
    {"A2 16GB", 200, 4.5, 18},
    {"T4 16GB", 320, 8.1, 65},
    {"L4 24GB", 300, 30.3, 121},
    {"L40 48GB", 864, 90.5, 181},
    {"L40S 48GB", 864, 91.6, 362},
    {"V100 SXM2 32GB", 900, 15.7, 125},
    {"V100 SXM2 16GB", 900, 15.7, 125},
    {"V100 PCIe 32GB", 897, 14.1, 112},
    {"V100 PCIe 16GB", 897, 14.1, 112},
    {"P100 SXM2 16GB", 720, 10.6, 0},
    {"P100 PCIe 16GB", 720, 9.3, 0},
    {"RTX 6000 Ada 48GB", 960, 91.1, 364.2},
    {"RTX PRO 6000 Blackwell Server 96GB", 1597, 120, 0},
    {"RTX PRO 6000 Blackwell Workstation 96GB", 1792, 125, 0},
    {"GeForce RTX 5090 32GB", 1792, 104.8, 209.5},
    {"GeForce RTX 4090 24GB", 1008, 82.6, 165.2},
    {"GeForce RTX 4080 16GB", 717, 48.7, 97.5},
    {"GeForce RTX 3090 24GB", 936, 35.6, 71},
    {"GeForce RTX 3080 10GB", 760, 29.8, 59.5},
    {"GeForce RTX 2080 Ti 11GB", 616, 13.4, 53.8},
    {"RTX A6000 48GB", 768, 38.7, 154.8},
    {"RTX A5000 24GB", 768, 27.8, 111.1},
    {"RTX A4000 16GB", 448, 19.2, 76.7},
    {"Instinct MI210 64GB", 1638, 22.6, 181},
    {"Instinct MI250 64GB", 1638, 22.65, 181.05},
    {"Instinct MI250X 64GB", 1638, 23.95, 191.5},
    {"Instinct MI300A 128GB", 5300, 122.6, 980.6},
    {"Instinct MI300X 192GB", 5300, 163.4, 1307.4},
    {"Instinct MI325X 256GB", 6000, 163.4, 1307.4},
    {"Instinct MI350X 288GB", 8000, 144.2, 2300},
    {"Instinct MI355X 288GB", 8000, 157.3, 2500},
    {"Radeon RX 7900 XTX 24GB", 960, 61.4, 122.8},
    {"Data Center GPU Max 1550 128GB", 3277, 52.4, 0},
    {"Data Center GPU Max 1100 48GB", 1229, 22.2, 0},
    {"Arc B580 12GB", 456, 13.7, 27.3},
    {"Arc A770 16GB", 560, 19.7, 39.3},
    {"Gaudi2 96GB", 2460, 0, 432},
    {"Gaudi3 128GB", 3700, 0, 1677},
};
// clang-format on

}  // namespace

std::span<const GpuSpeeds> gpu_speeds() { return speeds; }

const GpuSpeeds* find_gpu_speeds(std::string_view model) {
    const auto* row = std::ranges::find(speeds, model, &GpuSpeeds::model);
    return row == std::end(speeds) ? nullptr : row;
}

}  // namespace hostler

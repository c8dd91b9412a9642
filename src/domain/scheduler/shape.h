// What one task asks of one host, and what a host has left, in numbers: all that scoring needs to know.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace hostler {

inline constexpr int gpus_max = 16;        // On one host.
inline constexpr int gpu_whole = 1000;     // A GPU in thousandths.
inline constexpr int gpu_models_max = 64;  // In one fleet.

// How the GPUs of one task reach each other: by NVLink or xGMI; below one PCIe switch; on one NUMA node.
enum class Link : std::uint8_t { any, nvlink, pcie, numa };

struct Shape {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    int gpus = 0;       // On one host; 0: none.
    int gpu_milli = 0;  // Of each: 1 to 999 with one GPU, else gpu_whole; 0 without GPUs.
    std::uint64_t models = ~std::uint64_t{0};  // Bit m: GPUs of model m will do.
    std::int64_t disk_bytes = 0;
    std::uint32_t owner = 0;   // A share of this owner lies only beside shares of the same. 0: beside any.
    std::int16_t profile = 0;  // Of mig.h: a slice of a GPU instead of the one whole GPU asked for. 0: none.
    Link link = Link::any;     // Its GPUs reach each other like this or it does not fit.
    auto operator<=>(const Shape&) const = default;

    bool shares() const { return gpus == 1 && gpu_milli < gpu_whole; }
    // More than what is free decides where it fits.
    bool particular() const { return profile != 0 || link != Link::any || (owner != 0 && shares()); }
    // A shape that means something: the engine takes no other.
    bool sound() const {
        if (cpu_milli < 0 || memory_bytes < 0 || disk_bytes < 0 || gpus < 0 || gpus > gpus_max) return false;
        if (profile != 0 && (gpus != 1 || gpu_milli != gpu_whole || link != Link::any)) return false;
        if (gpus == 0) return gpu_milli == 0;
        return gpu_milli == gpu_whole || (gpus == 1 && gpu_milli > 0 && gpu_milli < gpu_whole);
    }
};

// A host with what is free on it.
struct Machine {
    int model = 0;  // Of all its GPUs; 0 to gpu_models_max - 1.
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    int gpus = 0;
    std::array<std::int16_t, gpus_max> free{};  // Thousandths of each GPU; of one in slices 0.
    std::int64_t disk_bytes = 0;
    bool operator==(const Machine&) const = default;

    int free_milli() const {
        int sum = 0;
        for (int i = 0; i < gpus; ++i) sum += free[static_cast<std::size_t>(i)];
        return sum;
    }
};

inline bool fits(const Shape& shape, const Machine& machine) {
    if (machine.cpu_milli < shape.cpu_milli || machine.memory_bytes < shape.memory_bytes) return false;
    if (machine.disk_bytes < shape.disk_bytes) return false;
    if (shape.gpus == 0) return true;
    if (!(shape.models >> machine.model & 1)) return false;
    int found = 0;
    for (int i = 0; i < machine.gpus; ++i)
        found += machine.free[static_cast<std::size_t>(i)] >= shape.gpu_milli;
    return found >= shape.gpus;
}

}  // namespace hostler

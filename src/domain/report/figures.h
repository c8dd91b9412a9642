// What verdicts look at: figures of one GPU in one step, and where they come from.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "domain/inventory/catalogue.h"
#include "domain/series/query.h"

namespace hostler::report {

enum class Figure {
    utilization,
    sm_active,
    tensor_active,
    memory_active,
    memory_used,
    memory_total,
    power,
    power_limit,
    power_throttled,
    thermal_throttled,
    temperature,
    temperature_slowdown,
    pcie_sent,
    pcie_received,
    pcie_generation,
    pcie_width,
    host_cpu,
    host_disk,
    host_received,
    // From those above.
    memory_used_percent,
    power_percent,
    pcie_percent,
    heat_margin,
};
inline constexpr std::size_t figures_count = 23;

struct FigureFacts {
    Figure figure;
    std::string_view name;    // For people.
    std::string_view unit;    // Of the figure; it is the metric's value × scale.
    std::string_view metric;  // Of the series; empty: it is worked out.
    series::Over over = series::Over::avg;
    double scale = 1;
    Measured of = Measured::gpu;
};
std::span<const FigureFacts> figure_table();
const FigureFacts& facts_of(Figure figure);

inline constexpr float not_measured = std::numeric_limits<float>::quiet_NaN();

struct Figures {
    Figures() { values.fill(not_measured); }
    float& operator[](Figure figure) { return values[static_cast<std::size_t>(figure)]; }
    float operator[](Figure figure) const { return values[static_cast<std::size_t>(figure)]; }
    bool has(Figure figure) const { return !std::isnan((*this)[figure]); }
    std::array<float, figures_count> values;
};

// Fills in what follows from the others; what lacks one of its parts stays not_measured.
void complete(Figures& figures);

// One way, in MB/s. 0: no such generation.
double pcie_megabytes_a_second(int generation, int lanes);

}  // namespace hostler::report

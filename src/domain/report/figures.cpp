#include "domain/report/figures.h"

#include <algorithm>

#include "core/result.h"

namespace hostler::report {

namespace {

using enum Figure;
using series::Over;

constexpr double percent_of_ppm = 1e-4;
constexpr double percent_of_us = 1e-4;  // Microseconds in a second.
constexpr double percent_of_ms = 1e-1;

constexpr FigureFacts table[] = {
    {utilization, "GPU busy", "%", "gpu_utilization_percent"},
    {sm_active, "multiprocessors busy", "%", "gpu_sm_active_ppm", Over::avg, percent_of_ppm},
    {tensor_active, "tensor cores busy", "%", "gpu_tensor_active_ppm", Over::avg, percent_of_ppm},
    {memory_active, "GPU memory busy", "%", "gpu_memory_active_ppm", Over::avg, percent_of_ppm},
    {memory_used, "GPU memory used", "GiB", "gpu_memory_used_bytes", Over::avg, 1.0 / (1 << 30)},
    {memory_total, "GPU memory", "GiB", "gpu_memory_total_bytes", Over::max, 1.0 / (1 << 30)},
    {power, "power", "W", "gpu_power_mw", Over::avg, 1e-3},
    {power_limit, "power limit", "W", "gpu_power_limit_mw", Over::min, 1e-3},
    {power_throttled, "slowed by its power limit", "%", "gpu_throttled_power_us", Over::rate, percent_of_us},
    {thermal_throttled, "slowed by heat", "%", "gpu_throttled_thermal_us", Over::rate, percent_of_us},
    {temperature, "hottest", "°C", "gpu_temperature_celsius", Over::max},
    {temperature_slowdown, "slows itself at", "°C", "gpu_temperature_slowdown_celsius", Over::min},
    {pcie_sent, "sent over PCIe", "MB/s", "gpu_pcie_sent_kb_s", Over::avg, 1e-3},
    {pcie_received, "received over PCIe", "MB/s", "gpu_pcie_received_kb_s", Over::avg, 1e-3},
    {pcie_generation, "PCIe generation", "", "gpu_pcie_generation", Over::max},
    {pcie_width, "PCIe lanes", "", "gpu_pcie_width", Over::max},
    {host_cpu, "host's CPUs busy", "%", "host_cpu_busy_percent", Over::avg, 1, Measured::host},
    {host_disk, "host's disks busy", "%", "host_disk_busy_ms", Over::rate, percent_of_ms, Measured::host},
    {host_received, "host received", "MB/s", "host_network_received_bytes", Over::rate, 1e-6, Measured::host},
    {memory_used_percent, "GPU memory used", "%", ""},
    {power_percent, "power, of its limit", "%", ""},
    {pcie_percent, "PCIe link busy", "%", ""},
    {heat_margin, "below where it slows itself", "°C", ""},
};
static_assert(std::size(table) == figures_count);

}  // namespace

std::span<const FigureFacts> figure_table() { return table; }

const FigureFacts& facts_of(Figure figure) {
    const FigureFacts& facts = table[static_cast<std::size_t>(figure)];
    HOSTLER_ASSERT(facts.figure == figure);
    return facts;
}

// Transfers a second × payload of the encoding (8b/10b, 128b/130b, 242 of 256 bytes of a flit): PCI Express
// Base Specification 6.0.
double pcie_megabytes_a_second(int generation, int lanes) {
    constexpr double lane[] = {0, 250, 500, 984.6, 1969.2, 3938.5, 7562.5};
    return generation > 0 && generation < static_cast<int>(std::size(lane)) ? lane[generation] * lanes : 0;
}

void complete(Figures& of) {
    const auto share = [&](Figure part, Figure whole) {
        return of.has(part) && of.has(whole) && of[whole] > 0 ? 100 * of[part] / of[whole] : not_measured;
    };
    of[memory_used_percent] = share(memory_used, memory_total);
    of[power_percent] = share(power, power_limit);
    of[heat_margin] = of[temperature_slowdown] - of[temperature];
    const bool link = of.has(pcie_generation) && of.has(pcie_width);
    const double most = link ? pcie_megabytes_a_second(static_cast<int>(of[pcie_generation]),
                                                       static_cast<int>(of[pcie_width]))
                             : 0;
    // Both ways at once are of one link each: the fuller one counts.
    const float moved = std::fmax(of[pcie_sent], of[pcie_received]);
    of[pcie_percent] = most > 0 ? static_cast<float>(100 * moved / most) : not_measured;
}

}  // namespace hostler::report

// The binary file `gpu_metrics` of the amdgpu driver.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.h"
#include "domain/inventory/sample.h"

namespace hostler::amd {

struct GpuMetrics {
    Metric hotspot_celsius;
    Metric memory_celsius;
    Metric gfx_percent;
    Metric memory_percent;
    Metric power_w;
    Metric energy_uj;  // Since the driver was loaded.
    Metric pcie_width;
    Metric pcie_generation;
    Metric pcie_replays;
    Metric gfx_mhz;
    Metric memory_mhz;
    bool operator==(const GpuMetrics&) const = default;
};

// Layouts 1.1 … 1.8 are structs, 1.9 a stream that describes itself; offsets, units and attribute numbers are
// those of the kernel's kgd_pp_interface.h. What the device does not tell (all bits set) is absent. Errors:
// invalid (another layout, as of APUs, or sizes that do not fit it).
Result<GpuMetrics> parse_gpu_metrics(std::string_view bytes);

}  // namespace hostler::amd

// Samples as NVIDIA's DCGM exporter (github.com/NVIDIA/dcgm-exporter, etc/default-counters.csv) names them:
// metrics and their units. What it has no name for is ours: hostler_gpu_…, hostler_host_…,
// hostler_volume_…, hostler_layer_… and hostler_instance_….
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "domain/inventory/sample.h"
#include "domain/series/sample.h"

namespace hostler {

template <class Sample>
struct Exported {
    std::string_view name;
    std::string_view help;
    series::Kind kind;
    Metric Sample::* of;
    double scale = 1;  // To the unit that the help names.
};

std::span<const Exported<GpuSample>> exported_gpu();
std::span<const Exported<SliceSample>> exported_slice();  // By the names of exported_gpu().
std::span<const Exported<HostSample>> exported_host();
std::span<const Exported<DiskUse>> exported_volume();
std::span<const Exported<DiskUse>> exported_layer();
std::span<const Exported<InstanceSample>> exported_instance();

// The one that is a difference of others.
inline constexpr std::string_view framebuffer_free_name = "DCGM_FI_DEV_FB_FREE";
std::optional<double> framebuffer_free_mib(const GpuSample& sample);
std::optional<double> framebuffer_free_mib(const SliceSample& sample);

// Calls `each(name, value)` for all that was measured.
template <class Sample, class Each>
void each_exported(std::span<const Exported<Sample>> table, const Sample& sample, Each&& each) {
    for (const Exported<Sample>& metric : table)
        if (const Metric& value = sample.*metric.of)
            each(metric.name, static_cast<double>(*value) * metric.scale);
}

}  // namespace hostler

// What is kept of samples over time: the metrics, by the names that people and series know them by.
#pragma once

#include <boost/describe.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/series/sample.h"

namespace hostler {

enum class Measured { gpu, slice, host, volume, layer, instance };
BOOST_DESCRIBE_ENUM(Measured, gpu, slice, host, volume, layer, instance)
inline constexpr Measured all_measured[] = {Measured::gpu,    Measured::slice, Measured::host,
                                            Measured::volume, Measured::layer, Measured::instance};

struct MetricFacts {
    std::string name;       // "gpu_power_mw": of what, the member of its sample, its unit.
    std::string_view unit;  // "mW"; empty: a count, or bits.
    std::string_view help;  // A phrase.
    series::Kind kind = series::Kind::gauge;
    Measured of = Measured::gpu;
};

// Of GpuSample, SliceSample, HostSample, DiskUse or InstanceSample, in the order in which pack_metrics()
// gives their values.
std::span<const MetricFacts> metrics_of(Measured of);

// By its name, or by its name without the unit: "gpu_power". nullptr: there is none.
const MetricFacts* find_metric(std::string_view name);

// Columns of a device, each a metric.
const std::vector<series::Column>& columns_of(Measured of);

}  // namespace hostler

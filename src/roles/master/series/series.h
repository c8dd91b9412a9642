// How GPUs and hosts stand in the series: what they are called, their columns and labels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "domain/inventory/catalogue.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// "gpu/h-…/GPU-…", "slice/h-…/MIG-…", "host/h-…". What a host calls its GPUs is its own word and may be
// another's name, so it stands within the host.
std::string series_gpu(const std::string& host, const std::string& uuid);
std::string series_slice(const std::string& host, const std::string& uuid);
std::string series_host(const std::string& host);

// Labels, and the moment from which on they hold; 0: it is not known, and earlier than the next row.
struct SeriesLabels {
    series::Labels labels;
    series::Millis from = 0;
    bool operator==(const SeriesLabels&) const = default;
};

// host host_name zone gpu index (the driver's) model class vendor; while it is held also `use` (stock,
// instance, foreign) and, by an instance, tenant, project and workload, by a node of a cluster tenant,
// project, cluster and node. Empty labels are left out. `claim`: what holds it; null: nothing does.
SeriesLabels series_labels(const Desk& desk, const Host& host, const GpuFacts& gpu, const Claim* claim);
// Those of its GPU, and slice profile gpu_instance.
SeriesLabels series_labels(const Desk& desk, const Host& host, const GpuFacts& gpu, const GpuSlice& slice,
                           const Claim* claim);
SeriesLabels series_labels(const Host& host);  // host host_name zone

SeriesLabels series_labels(const Host& host, const Volume& volume);      // Those, volume, tenant, project.
SeriesLabels series_labels(const Host& host, const Instance& instance);  // Those, workload, tenant, project.

// A device as a row in the series names it.
struct SeriesDevice {
    Measured of = Measured::gpu;
    std::string id;
    SeriesLabels labels;
};
using SeriesDevicePtr = std::shared_ptr<const SeriesDevice>;

// What samples say of the pods that have GPUs.
struct PodsTold {
    series::Millis time = 0;                         // When it was so.
    const std::map<std::string, GpuSample>* gpus{};  // Null: what `before` said of pods holds.
    std::map<std::string, Rate>* changes{};          // With `gpus`: of each GPU, as HostLive has it.
    Instant now{};
};

// The GPUs of a host in the order of its facts, their slices, then itself. What is as it was in `before` is
// that very one: it costs nothing to make and to compare. GPUs of a node have namespace, pod and container,
// too, if a pod has them. Labels with a node hold from the first sample on that has them: only that says
// which pod has a GPU.
std::vector<SeriesDevicePtr> series_devices(const Desk& desk, const Host& host,
                                            const std::vector<SeriesDevicePtr>& before, const PodsTold& pods);

// The cells of a row, as columns_of() has them.
void add_cells(const GpuSample& sample, std::vector<series::Cell>& to);
void add_cells(const SliceSample& sample, std::vector<series::Cell>& to);
void add_cells(const HostSample& sample, std::vector<series::Cell>& to);
void add_cells(const DiskUse& use, std::vector<series::Cell>& to);
void add_cells(const InstanceSample& sample, std::vector<series::Cell>& to);

inline series::Millis series_millis(WallTime time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace hostler::master

// What a host reports.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "roles/master/state/desk.h"

namespace hostler::master {

// What a host and its GPUs do at one moment.
struct HostTelemetryTold {
    std::map<std::string, GpuSample> gpus{};
    std::optional<HostSample> host{};
    std::vector<WorkloadUse> uses{};
};

struct HostReport {
    std::uint64_t sequence = 0;
    std::optional<HostFacts> facts{};
    std::map<std::string, GpuState> gpu_states{};  // With facts.
    std::vector<GpuFault> faults{};
    std::string engine{};  // With facts.
    std::string engine_error{};
    std::optional<std::set<std::string>> images{};  // With facts.
    bool images_truncated = false;                  // There are more of them.
    std::string agent_version{};                    // Not empty: it said hello.
    std::map<std::string, SeenWorkload> workloads{};
    std::optional<std::map<std::string, SeenLayer>> layers{};  // All there are; nullopt: it does not say.
    std::uint32_t layers_ahead = 0;                            // With `layers`.
    std::optional<HostTelemetryTold> telemetry{};
    std::optional<DiskUses> disks{};                    // nullopt: it does not say.
    std::map<std::string, InstanceSample> instances{};  // What they use, of those that it tells of.
    std::int64_t time = 0;                              // When it was measured, by the host's clock;
    std::optional<std::int64_t> age_us{};               // age when it was sent; nullopt: not known.
    std::optional<PodDevicesTold> pod_devices{};        // nullopt: it is no node.
    std::uint64_t workloads_cut = 0;                    // That it named beyond what a host is believed.
    bool complete = false;                              // `workloads` are all there are.
    std::uint64_t stamp_us = 0;
};

}  // namespace hostler::master

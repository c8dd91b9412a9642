// What a machine has and how it does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "domain/inventory/host.h"
#include "domain/inventory/sample.h"

namespace hostler {

// One way of seeing GPUs (a driver's library, a vendor's files, the PCI bus). One call at a time. Every call
// ends in bounded time, also when a driver hangs, and leaves what it could not learn absent instead of
// failing.
class Telemetry {
public:
    virtual ~Telemetry() = default;
    // A constant, short name: "nvml", "amd", "intel", "pci".
    virtual std::string_view name() const = 0;
    // Looks for GPUs anew. `source` is name(); the GPUs' `sources` are left to who merges. Each has a UUID,
    // unique in the answer, the same as at the last call for the same device. Nothing of this kind on the
    // machine is an empty inventory. Errors: cancelled; unavailable (the library or driver is there and does
    // not work: the message says what to do); timeout.
    virtual Task<GpuInventory> discover() = 0;
    // One sample for each GPU of the last discover() that answered, in its order; none before. A GPU that
    // cannot be asked is in it with its condition, and keeps no other from being sampled. Errors: cancelled.
    virtual Task<std::vector<GpuSample>> sample() = 0;
    // Faults since the last call, oldest first, each delivered once; does not wait. Of more than `faults_max`
    // the oldest are dropped.
    virtual std::vector<GpuFault> take_faults() { return {}; }

    static constexpr std::size_t faults_max = 1024;
};

// Processes and threads of a container.
struct ProcessUse {
    std::int64_t now = 0;
    std::int64_t max = 0;  // That it may have.
    bool operator==(const ProcessUse&) const = default;
};

// The machine around the GPUs.
class HostTelemetry {
public:
    virtual ~HostTelemetry() = default;
    // Without GPUs and what belongs to them. Errors: cancelled; timeout.
    virtual Task<HostFacts> facts() = 0;
    virtual Task<HostSample> sample() = 0;  // Errors: cancelled; timeout.
    // In which container each of these processes is, by the engine's id of it; those that are in none, or
    // have ended, are left out. Errors: cancelled; timeout.
    virtual Task<std::map<std::int64_t, std::string>> containers_of(std::vector<std::int64_t> pids) = 0;
    // Of containers by the engine's ids; those that do not run, or have no limit, are left out. Errors:
    // cancelled; timeout.
    virtual Task<std::map<std::string, ProcessUse>> processes_of(std::vector<std::string> containers) = 0;
    // The same of what they use. Asks the kernel, not the engine; what it does not tell is absent. Errors:
    // cancelled; timeout.
    virtual Task<std::map<std::string, InstanceSample>> samples_of(std::vector<std::string> containers) = 0;
};

}  // namespace hostler

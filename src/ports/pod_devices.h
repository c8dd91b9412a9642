// GPUs for the pods of a cluster whose node this host is.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"
#include "domain/inventory/gpu_pod.h"
#include "domain/inventory/host.h"

namespace hostler {

struct PodGpu {
    GpuFacts facts;
    bool healthy = true;  // Else no new pod gets it.
};

struct PodOffer {
    std::vector<PodGpu> gpus;       // Each with a CDI name.
    std::vector<GpuLink> topology;  // Of them.
};

// What a container gets for its GPUs.
struct PodGrant {
    struct Node {
        std::string path, host_path;  // In the container; here.
        std::string permissions;      // Of "rwm".
        bool operator==(const Node&) const = default;
    };
    struct Mount {
        std::string path, host_path;
        bool read_only = true;
        bool operator==(const Mount&) const = default;
    };
    std::vector<std::pair<std::string, std::string>> environment;  // The last of a name counts.
    std::vector<Node> nodes;
    std::vector<Mount> mounts;
};

struct PodDeviceCounts {
    std::uint64_t allocations = 0;  // Containers that got GPUs since the process began,
    std::uint64_t refused = 0;      // and those that did not.
};

class PodDevices {
public:
    virtual ~PodDevices() = default;
    // These instead of those before, to each kubelet that comes up on this host, until end(). Does not wait.
    virtual void offer(PodOffer offer) = 0;
    // Nothing is offered any more, and no file of it is left. Containers keep what they have. May be
    // repeated. Errors: cancelled (it ends all the same).
    virtual Task<> end() = 0;
    // Which container has which of the GPUs that are offered, by UUID, as the kubelet tells at this moment. A
    // GPU that it says two pods have is left out, as are names that are none. Takes a few seconds at most.
    // Errors: unavailable (no kubelet answers, or nothing is offered), timeout, exhausted (its answer is too
    // large).
    virtual Task<std::map<std::string, GpuPod>> holders() = 0;
    virtual PodDeviceCounts counts() const = 0;
};

// Under which name pods ask for it, as the vendor's users write it: "nvidia.com/gpu", "gpu.intel.com/xe".
// Empty: it cannot be given to containers.
std::string pod_resource(const GpuFacts& gpu);

}  // namespace hostler

// The container of a pod that has a GPU of a node, by the names that its owner gave.
#pragma once

#include <string>

namespace hostler {

struct GpuPod {
    std::string pod_namespace;  // At most 63 characters,
    std::string name;           // 253
    std::string container;      // and 63. Empty: several of the pod's have the GPU.
    bool operator==(const GpuPod&) const = default;
};

// Whether Kubernetes lets these be names: letters a to z, digits, '-', in a pod's also '.'.
bool is_valid(const GpuPod& pod);

}  // namespace hostler

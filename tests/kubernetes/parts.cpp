#include "parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace hostler::kube {

namespace fs = std::filesystem;

std::string parts() {
    const char* other = std::getenv("HOSTLER_KUBERNETES");  // NOLINT(concurrency-mt-unsafe): nothing sets it.
    return other != nullptr ? other : HOSTLER_SOURCE "/build/kubernetes";
}

std::string part(std::string_view name) { return fmt::format("{}/{}", parts(), name); }

std::string missing(Needs needs) {
    for (const std::string_view name : {"kube", "kubectl", "addons", "workload"})
        if (!fs::exists(part(name)))
            return fmt::format("no {}: `./dev kubernetes` builds it, which takes Go 1.26.4 or later",
                               part(name));
    if (needs == Needs::control_plane) return "";
    if (::geteuid() != 0) return "nodes are namespaces and control groups, which only root makes";
    for (const char* file :
         {"/usr/bin/containerd", "/usr/sbin/runc", "/usr/lib/cni/bridge", "/usr/bin/tini", "/usr/sbin/ipset"})
        if (!fs::exists(file)) return fmt::format("no {}: `./dev setup` installs it", file);
    return "";
}

}  // namespace hostler::kube

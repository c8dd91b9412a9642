// Containers and their use of the machine, read from control groups and network namespaces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel_files.h"
#include "ports/telemetry.h"

namespace hostler {

// The id of a container in a control group's path: 64 hexadecimal digits, as "/docker/ID", "docker-ID.scope",
// "libpod-ID.scope/container", "cri-containerd-ID.scope". Of several the last: a container in a container is
// the engine's of the inner one. Empty: none.
std::string container_of(const std::string& cgroup);

// Not for two threads at once. Where a container's files are is looked for when it is first asked for, and
// remembered.
class Containers {
public:
    Containers(KernelRoots roots, std::string cgroups)
        : roots_(std::move(roots)), cgroups_(std::move(cgroups)) {}

    // Those that are not found are left out. One whose processes have no limit has no ProcessUse.
    std::map<std::string, ProcessUse> processes(const std::vector<std::string>& ids);
    std::map<std::string, InstanceSample> samples(const std::vector<std::string>& ids);

    // An id that has no group is looked for so often; then not before it was left out of a question.
    static constexpr int looks_max = 5;

private:
    struct Group {
        std::string path;       // Below the root of each hierarchy, from its "/" on; empty: not found.
        int looks = 0;          // In a row, for nothing.
        std::int64_t main = 0;  // Its process 1, as the host numbers it; 0: not found.
        int main_looks = 0;     // In a row, for nothing.
    };

    void find(const std::vector<std::string>& ids);
    bool present(const Group& group) const;
    std::string folder(const Group& group, const std::string& controller) const;
    InstanceSample sample_of(const std::string& id, Group& group);
    void add_group_figures(const Group& group, InstanceSample& sample) const;
    void add_traffic(const std::string& id, Group& group, InstanceSample& sample) const;
    std::int64_t main_process(const Group& group) const;
    std::string disk_name(const std::string& number) const;

    KernelRoots roots_;
    std::string cgroups_;
    bool first_ = false;  // Control groups are of version 1, a hierarchy for each controller.
    std::map<std::string, Group> groups_;
};

}  // namespace hostler

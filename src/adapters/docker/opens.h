// Whether devices open from inside a container. That a node is there says nothing of it: the control group of
// the container decides.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "adapters/docker/cdi.h"

namespace hostler::docker {

inline constexpr std::chrono::seconds open_time{10};  // Of a driver that does not answer, for all nodes.

// Opens each node as root of the container of process `pid` does: in its control group, with its users, below
// its root; and closes it at once. Blocks, until `within` at most. Errors: unavailable, naming the node and
// why it does not open; timeout; not_found (the process has ended).
Result<> check_opens(std::int64_t pid, std::span<const CdiNode> nodes,
                     std::chrono::milliseconds within = open_time);

// A control group that decides on devices: of the hierarchy `devices` of version 1, else of version 2.
struct DeviceGroup {
    std::string folder;
    bool first_version = false;

    // By which a process joins. One thread does so at once in version 1; a process waits for the kernel.
    std::string file() const { return folder + (first_version ? "/tasks" : "/cgroup.procs"); }

    bool operator==(const DeviceGroup&) const = default;
};

// That of a process of which /proc/PID/cgroup says `groups`, as /proc/self/mountinfo says `mounts`. nullopt:
// it is not mounted here.
std::optional<DeviceGroup> device_group(std::string_view groups, std::string_view mounts);

}  // namespace hostler::docker

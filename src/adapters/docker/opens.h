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

// Where a process joins the control group that decides on devices for one of which /proc/PID/cgroup says
// `groups`, as /proc/self/mountinfo says `mounts`: the hierarchy `devices` of version 1, else version 2.
// nullopt: it is not mounted here.
std::optional<std::string> device_group(std::string_view groups, std::string_view mounts);

}  // namespace hostler::docker

// Which processes of containers the kernel killed for want of memory: control groups count them, and the
// kernel's log has their names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hostler::docker {

// The file in which the kernel counts kills in the container `id`. `cgroup`: /proc/PID/cgroup of one of its
// processes. `root`: where control groups are mounted. Empty: there is none.
std::string kills_file(std::string_view cgroup, std::string_view id, std::string_view root);
// What it counts; nullopt: it is gone, or an old kernel's, which does not count.
std::optional<std::uint64_t> kills_in(const std::string& file);

// Those of `ids` of whose container the kernel's log tells that a process was killed, with the name of the
// last one; what has left its ring is not known. Reads all of the log.
std::map<std::string, std::string> killed_for_memory(const std::string& kernel_log,
                                                     std::span<const std::string> ids);

}  // namespace hostler::docker

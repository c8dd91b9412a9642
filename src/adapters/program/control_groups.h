// Control groups of programs, made directly in the kernel's files: version 1, version 2, or both beside each
// other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/control_groups.h"

namespace hostler::program {

// 2 where memory is limited by version 2, else 1.
int version_of(std::span<const Hierarchy> hierarchies);

struct GroupLimits {
    std::int64_t cpu_milli = 0;  // 0: no limit; so for the next two.
    std::int64_t memory_bytes = 0;
    std::int64_t pids_max = 0;
};

struct GroupDevice {
    bool block = false;
    std::uint32_t major = 0;
    std::int64_t minor = -1;  // -1: any.
};

struct GroupValue {
    std::string file, value;
    bool optional = false;  // Not every kernel has the file.
    bool operator==(const GroupValue&) const = default;
};

struct GroupPlan {
    std::string parent;              // Made if it is missing, and never limited.
    std::string folder;              // Below it.
    std::string enabled;             // For cgroup.subtree_control of version 2: "+cpu +memory +pids".
    std::vector<GroupValue> values;  // In this order.
    bool filter_devices = false;     // Version 2: by a BPF program.
};

// One group in each hierarchy that is needed to limit, to kill or to leave the service of the agent. Errors:
// unavailable (no hierarchy has a controller that is needed).
Result<std::vector<GroupPlan>> plan_groups(std::span<const Hierarchy> hierarchies, const std::string& parent,
                                           const std::string& id, const GroupLimits& limits,
                                           std::span<const GroupDevice> devices);
// Groups for holders, which leave the service of the agent and are limited by nothing.
std::vector<GroupPlan> plan_holder_groups(std::span<const Hierarchy> hierarchies, const std::string& parent);

// Makes them with their limits. What was made is taken away when one cannot be. `unfiltered`: why version 2
// does not filter devices; empty: it does. Errors: unavailable.
Result<> make_groups(std::span<const GroupPlan> groups, std::span<const GroupDevice> devices,
                     std::string& unfiltered);
std::uint64_t memory_kills(std::span<const std::string> folders);

}  // namespace hostler::program

// What the operator decides for programs that run without a container.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hostler::program {

// A device that is asked for, as it is to be seen by the program.
struct DeviceNode {
    std::string path;       // In the program's /dev.
    std::string host_path;  // Of this host; the device is looked up there.
};

// All that CDI names mean for a program. The host's file system is the program's, so a mount whose two paths
// are equal changes nothing.
struct DeviceEdits {
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<DeviceNode> nodes;
    std::vector<std::pair<std::string, std::string>> mounts;  // Host path, path; read-only.
};

// Resolves "nvidia.com/gpu=GPU-…". Blocks, shortly, on the worker of the engine: it owns what it touches.
// Errors: not_found, invalid.
using ResolveDevices = std::function<Result<DeviceEdits>(std::span<const std::string>)>;

// Users and groups for programs: no two running programs share one, and the group has the number of the user.
// Nothing else on the host may use them.
struct ProgramIds {
    std::uint32_t first = 0;  // Not 0: no program is root.
    std::uint32_t count = 0;  // At most so many programs run at a time.
};

struct ProgramSettings {
    std::string state_folder;         // "/var/lib/hostler-agent/programs": absolute, of ours alone.
    std::vector<std::string> holder;  // {"/proc/self/exe", hold_command}: runs hold_main().
    ProgramIds ids{};
    // Asked on the loop at each start that claims devices, for what is known of them then. Null: no device
    // can be claimed.
    std::function<ResolveDevices()> devices{};
    // Programs share the network of the host: its addresses, ports, abstract sockets, and services that
    // listen on 127.0.0.1. Without it each program has a separate network with nothing but 127.0.0.1.
    bool share_network = false;
    std::string group_parent = "hostler-programs";  // Of control groups, below the root of each hierarchy.
    // Folders of the host that a program sees empty, with what is mounted in them. The state folder is always
    // one of them. Mounts elsewhere stay in use as long as a program runs, also when the host unmounts them.
    std::vector<std::string> hidden{"/root",
                                    "/home",
                                    "/run",
                                    "/boot",
                                    "/var/lib/hostler-agent",
                                    "/var/lib/containers",
                                    "/var/lib/containerd",
                                    "/var/lib/docker",
                                    "/var/lib/kubelet"};
    // Whose files the program's are in mounts, where ContainerSpec::ids does not say it: the next program of
    // another user finds them as its own. 0: the user's of the program that wrote them.
    std::uint32_t mount_owner = 0;
    std::int64_t scratch_bytes = std::int64_t{1} << 30;   // Of /tmp and /var/tmp together, in memory.
    std::int64_t shm_bytes = std::int64_t{64} << 20;      // Of /dev/shm, where the spec has no number.
    std::int64_t pids_max = 4096;                         // Where the spec has no number.
    std::int64_t open_files_max = 65536;                  // Bounded by the agent's own hard limit.
    std::int64_t log_bytes_max = std::int64_t{10} << 20;  // At least so many are kept, at most twice as many.
    std::int64_t log_bytes_per_s = std::int64_t{32} << 20;  // A faster program waits for its log.
    std::chrono::milliseconds news_time{1'000};             // How often EngineEvents looks for changes.
    std::chrono::milliseconds start_time{30'000};
    std::chrono::milliseconds kill_time{30'000};  // From SIGKILL to the end of the last process.
};

}  // namespace hostler::program

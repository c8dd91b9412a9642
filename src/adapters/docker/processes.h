// The Processes port: an engine says which process a container has, and the kernel the rest.
#pragma once

#include <optional>

#include "adapters/docker/api.h"
#include "core/worker.h"
#include "ports/processes.h"

namespace hostler::docker {

struct ProcessSettings {
    std::string socket;  // The engine's.
    std::string proc = "/proc";
    std::string cgroups = "/sys/fs/cgroup";
    std::string kernel_log = "/dev/kmsg";
    Duration call_time = std::chrono::seconds{15};  // One question to the engine.
    Duration look_again = std::chrono::minutes{1};  // For a count where there was none.
};

class DockerProcesses final : public Processes {
public:
    // `worker` reads the kernel's files.
    DockerProcesses(Net& net, Timers& timers, Worker& worker, ProcessSettings settings);

    Task<std::vector<std::string>> listening(std::string container, std::uint16_t port) override;
    Task<std::map<std::string, MemoryKills>> memory_kills(std::vector<std::string> containers) override;

private:
    struct First {
        std::string id;        // The container's.
        std::int64_t pid = 0;  // Its first process.
    };
    struct Counted {
        std::string id;
        std::string file;  // Where the kernel counts; empty: nowhere.
        MemoryKills kills;
        Instant look_again;  // Without a file.
    };
    Task<std::optional<First>> first_process(std::string container);
    Task<Counted> place_of(std::string container);
    Task<> read_log();

    Timers& timers_;
    Worker& worker_;
    ProcessSettings settings_;
    Api api_;
    std::map<std::string, First> known_;      // By container; it may have ended.
    std::map<std::string, Counted> counted_;  // Those that were asked for last.
};

// Addresses in the text of /proc/PID/net/tcp or tcp6 on which something listens at `port`.
std::vector<std::string> listening_in(std::string_view table, std::uint16_t port);

}  // namespace hostler::docker

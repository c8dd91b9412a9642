// The containers of a cloud that `hostler up` runs, while it does not: they are stopped with it, and go on
// with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/docker/api.h"
#include "adapters/docker/network.h"
#include "bin/process.h"
#include "core/worker.h"

namespace hostler::bin {

// For the time when no agent runs, so that nobody takes a stop for an end.
class Containers {
public:
    // `list`: where it is kept which ones are to go on. `socket`: of the engine.
    Containers(Process& process, std::string socket, std::filesystem::path list, docker::WallSettings wall);

    // Stops those of `hosts` (ids; none: those that have gone on) that run, and takes the walls of their
    // networks away. Not cancellable.
    Task<> stop(std::vector<std::string> hosts);
    // Starts what stop() stopped, the walls first. One that cannot be started is told of, and its agent tells
    // more.
    Task<> go_on();

private:
    struct Kept {
        std::vector<std::string> containers;
        std::vector<std::string> networks;
    };
    Task<Kept> running(std::vector<std::string> hosts);
    Task<> stop_all(std::vector<std::string> hosts);
    Task<> start(const std::string& id);
    Kept read() const;

    Process& process_;
    std::filesystem::path list_;
    docker::Api api_;
    std::unique_ptr<Worker> worker_;
    docker::DockerNetwork networks_;
    Kept gone_on_;
};

}  // namespace hostler::bin

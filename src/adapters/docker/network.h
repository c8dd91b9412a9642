// The HostNetwork port: bridges of the container engine, and a wall of nftables around them.
#pragma once

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"
#include "adapters/docker/wall.h"
#include "core/worker.h"
#include "ports/network.h"

namespace hostler::docker {

struct NetworkSettings {
    std::string socket;
    std::string owner;  // Whose networks list() shows; two agents may share an engine. A host's id.
    Duration call_time = std::chrono::seconds{20};
    WallSettings wall{};
};

class DockerNetwork final : public HostNetwork {
public:
    DockerNetwork(Net& net, Timers& timers, Worker& worker, NetworkSettings settings);

    Task<> ensure(NetworkSpec spec) override;
    Task<> remove(std::string id) override;
    Task<std::vector<std::string>> list() override;

    // The wall around a network's bridge alone: for one that is there but stands empty. ensure() has it set
    // too.
    Task<> guard(std::string id);
    Task<> unguard(std::string id);
    // The walls of all networks that are there, as they have to stand now: for an agent that starts,
    Task<> guard_all();
    // and the same of those that this process has guarded, without asking the engine.
    Task<> refresh_walls();

private:
    Task<std::optional<SeenNetwork>> inspect(std::string id);
    Task<> make(const NetworkSpec& spec);
    Task<Dialect> dialect();

    Worker& worker_;
    NetworkSettings settings_;
    Api api_;
    std::optional<Dialect> dialect_;  // Of the engine, once it has said so.
    std::shared_ptr<Wall> wall_;      // Touched only by jobs of the worker.
};

}  // namespace hostler::docker

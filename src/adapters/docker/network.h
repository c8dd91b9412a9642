// The HostNetwork port: bridges of the container engine, and a wall of nftables around them.
#pragma once

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"
#include "core/worker.h"
#include "ports/network.h"

namespace hostler::docker {

struct NetworkSettings {
    std::string socket;
    std::string owner;  // Whose networks list() shows; two agents may share an engine. A host's id.
    Duration call_time = std::chrono::seconds{20};
    std::chrono::milliseconds firewall_time{10'000};
    std::string firewall_lock = "/run/hostler-firewall.lock";  // Between the agents of one machine.
};

// The host's firewall as it was before the network's wall: for one that the engine has forgotten.
Result<> take_down_wall(const NetworkSettings& settings, std::string_view network);

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

private:
    Task<std::optional<SeenNetwork>> inspect(std::string id);
    Task<> make(const NetworkSpec& spec);
    Task<Dialect> dialect();
    Task<> apply(std::string rules, bool last_one_drops_the_table);

    Worker& worker_;
    NetworkSettings settings_;
    Api api_;
};

}  // namespace hostler::docker

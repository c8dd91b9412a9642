// Pods of simulated clusters: they come to nodes whose kubelet runs, get GPUs that the agent offers, and go.
// It remembers all of them, for whoever checks what is said of them.
#pragma once

#include "cluster_truth.h"

namespace hostler::simulation {

class ClusterPods {
public:
    ClusterPods(sim::World& world, const ClusterTruth& clusters)
        : world_(world), clusters_(clusters), dice_(world.dice.fork("cluster pods")) {}

    struct Pod {
        ClusterTruth::Member node;
        std::set<std::string> gpus;  // UUIDs.
        Instant since{};
        std::optional<Instant> until{};  // A second late at most; nullopt: it runs.
    };
    void each_second(const std::vector<std::string>& machines);
    const Pod* find(const std::string& name) const;
    std::size_t begun() const { return all_.size(); }

private:
    void come(sim::Machine& machine);
    void go(sim::Machine& machine);

    sim::World& world_;
    const ClusterTruth& clusters_;
    sim::Dice dice_;
    std::map<std::string, Pod> all_;                        // By name, which begins with the cluster's id.
    std::map<std::string, std::set<std::string>> running_;  // Names, by machine.
};

}  // namespace hostler::simulation

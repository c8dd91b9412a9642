// What an agent does steps of clusters with, where its operator allows it.
#pragma once

#include <memory>

#include "adapters/node_steps/steps.h"
#include "adapters/sim/node_steps.h"
#include "bin/process.h"
#include "roles/agent/settings.h"

namespace hostler::bin {

struct ClusterSteps {
    std::unique_ptr<sim::NodeHost> machine;  // Simulated: it ends with the agent.
    std::shared_ptr<const void> life;
    std::unique_ptr<NodeSteps> simulated;
    std::unique_ptr<node_steps::HostSteps> host;
    NodeSteps* port() const {
        return host ? host.get() : simulated.get();
    }  // Null: clusters are not allowed.
};

struct ClusterOptions {
    std::filesystem::path data;     // Of the agent.
    std::filesystem::path drivers;  // A folder with more of them; empty: none.
    bool simulate = false;
};

// Gives the settings their drivers, too. Errors: invalid (a driver or the folder of saves is wrong), unavailable.
Result<ClusterSteps> cluster_steps(Process& process, const ClusterOptions& options,
                                   agent::Settings& settings);

}  // namespace hostler::bin

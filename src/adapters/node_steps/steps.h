// The NodeSteps port on this host.
#pragma once

#include <memory>

#include "adapters/node_steps/settings.h"
#include "core/timers.h"
#include "core/worker.h"
#include "ports/node_steps.h"

namespace hostler::node_steps {

// Each call runs on a separate thread. A cancelled call returns once all that it began has ended.
class HostSteps final : public NodeSteps {
public:
    HostSteps(Loop& loop, StepSettings settings) : loop_(loop), settings_(std::move(settings)) {}

    Task<NodeStepDone> perform(NodeStep step) override;
    Task<> forget(std::string node) override;
    Task<std::vector<Leftover>> look(Leftovers what) override;
    Task<NodeApi> api(std::string cluster) override;
    // Begins the programs that ran before this machine was started again. Once. Errors: unavailable,
    // not_found, timeout: of the first that does not begin.
    Task<> resume();

private:
    Loop& loop_;
    const StepSettings settings_;
};

}  // namespace hostler::node_steps

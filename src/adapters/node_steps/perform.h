// One step, from the question whether it is done to the answer that it is. Blocks.
#pragma once

#include "adapters/node_steps/programs.h"
#include "ports/node_steps.h"

namespace hostler::node_steps {

// As NodeSteps::perform.
Result<NodeStepDone> perform(const StepSettings& settings, const NodeStep& step, const Stop& stop);

// As NodeSteps::look.
Result<std::vector<Leftover>> look(const StepSettings& settings, const Leftovers& what, const Stop& stop);

// As NodeSteps::api.
Result<NodeApi> api(const StepSettings& settings, const std::string& cluster);

}  // namespace hostler::node_steps

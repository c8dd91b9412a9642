// The last step of a GPU's way back: it was reset and quiet, and now it computes, and computes right.
#pragma once

#include "roles/agent/executor.h"
#include "roles/agent/sampler.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

// One GPU after the other, each once nothing has it. Those beside it go on working.
class Retests {
public:
    Retests(const Settings& settings, const Ports& ports, Sampler& sampler, Executor& executor);
    Task<> run();  // For ever; there must be a bench.

private:
    Task<> retest(std::string uuid);

    const Settings& settings_;
    Ports ports_;
    Sampler& sampler_;
    Executor& executor_;
    std::map<std::string, Instant> rest_until_;  // By UUID: its benchmark could not begin.
};

}  // namespace hostler::agent

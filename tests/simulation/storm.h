// One case: a cloud, its tenants, the storm over it, and the calm after.
#pragma once

#include "case.h"
#include "cloud.h"
#include "tenants.h"

namespace hostler::simulation {

struct StormReport {
    std::uint64_t digest = 0;
    Findings found;
    Verdict verdict;
    std::vector<std::string> story;
    int calls = 0, acknowledged = 0, opened = 0, running = 0;
    std::size_t commands = 0;
    std::uint64_t epochs = 0;
};

StormReport ride(const Case& which, Mistakes mistakes = {});

}  // namespace hostler::simulation

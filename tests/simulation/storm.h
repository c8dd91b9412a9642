// One seed: a cloud, its tenants, the storm over it, and the calm after.
#pragma once

#include "cloud.h"
#include "tenants.h"

namespace hostler::simulation {

enum class Weather { calm, deaths, everything };

struct StormReport {
    std::uint64_t seed = 0;
    std::uint64_t digest = 0;
    Findings found;
    std::vector<std::string> story;
    int calls = 0, acknowledged = 0, opened = 0, running = 0;
    std::size_t commands = 0;
    std::uint64_t epochs = 0;
};

struct Length {
    Duration storm = std::chrono::seconds{150};
    Duration calm_max = std::chrono::minutes{8};
};

StormReport ride(std::uint64_t seed, Weather weather, Mistakes mistakes = {}, Length length = {});

}  // namespace hostler::simulation

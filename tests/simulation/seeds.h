// Which seeds to run: HOSTLER_SEEDS=A..B, else the default ones.
#pragma once

#include <cstdint>
#include <string>

namespace hostler::simulation {

struct Seeds {
    std::uint64_t first = 1;
    std::uint64_t last = 50;
};

Seeds seeds(std::uint64_t default_count);
std::string replay_command(std::uint64_t seed);  // What a person types to see it again.

}  // namespace hostler::simulation

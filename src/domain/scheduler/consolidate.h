// Which workloads to move so that whole hosts become free: a plan, nothing is done.
#pragma once

#include <vector>

#include "domain/scheduler/fleet.h"

namespace hostler {

// A workload that may be stopped here and started there.
struct Movable {
    Need need;
    Choice held;
};

struct Move {
    std::size_t workload = 0;  // Its place in what was given.
    Choice to;
    bool operator==(const Move&) const = default;
};

struct Consolidation {
    std::vector<HostNumber> freed;  // On which nothing is left.
    std::vector<Move> moves;        // All can be claimed before the first is stopped.
    int gpus = 0;                   // Of the hosts that are freed.
};

// Hosts with the fewest workloads first; only those whose every workload may move, each once, and never to a
// host that is empty. `moves_max`: in all.
Consolidation consolidate(Fleet fleet, const std::vector<Movable>& workloads, std::size_t moves_max);

}  // namespace hostler

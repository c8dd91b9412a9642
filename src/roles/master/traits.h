// What the hosts are like, as the scheduler asks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/scheduler/need.h"
#include "domain/scheduler/topology.h"
#include "roles/master/desk.h"

namespace hostler::master {

// Of GPUs what all that can be lent have in common. Its name is its id.
Traits traits_of(const Desk& desk, const Host& host);

// Those of its GPUs that can be lent, in the order of their numbers in the fleet.
std::vector<std::string> lendable(const Host& host);
// How they reach each other, by those numbers.
Topology topology_of(const Host& host);

// Memory as the data sheet says; what a driver shows of it is a little less.
std::int64_t memory_of(const GpuFacts& gpu);

}  // namespace hostler::master

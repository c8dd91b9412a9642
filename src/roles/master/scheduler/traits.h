// What the hosts are like, as the scheduler asks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/scheduler/need.h"
#include "domain/scheduler/topology.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Of its GPUs that can be lent; "" when there are none. In order, each once.
std::vector<std::string> models_of(const Host& host);
// Of the host with its GPUs of this model. Its name is its id.
Traits traits_of(const Desk& desk, const Host& host, const std::string& model);

// Those of this model that can be lent, in the order of their numbers in the fleet.
std::vector<std::string> lendable(const Host& host, const std::string& model);
// How they reach each other, by those numbers.
Topology topology_of(const Host& host, const std::string& model);

// Whether it shares the memory of its host's CPUs: the catalogue says so, or its driver reports no memory.
bool has_unified_memory(const GpuFacts& gpu);

// Memory as the data sheet says; what a driver shows of it is a little less. Of one with unified memory that
// the catalogue does not know: its host's.
std::int64_t memory_of(const Host& host, const GpuFacts& gpu);

// The host says that it has it.
bool has_image(const Desk& desk, const std::string& host, const std::string& image);

}  // namespace hostler::master

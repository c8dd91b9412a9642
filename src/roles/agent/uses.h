// What each instance costs each GPU.
#pragma once

#include "roles/agent/sampler.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

// By GPU and instance. A process is its container's, and a container its instance's; what is in no container
// of ours is told as of no instance. Where a driver does not tell the memory of one of the processes, that
// one counts for nothing; where it tells of none, the sum is absent.
std::vector<WorkloadUse> uses_of(const Sampler::Samples& samples,
                                 const std::map<std::string, Workload>& workloads);

}  // namespace hostler::agent

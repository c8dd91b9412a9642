// What only the host's kernel knows of a container.
#pragma once

#include <set>
#include <span>
#include <string>

#include "adapters/docker/cdi.h"

namespace hostler::docker {

// That each node is there in the container of process `pid`, and is the host's device. An engine's word that
// it started a container says nothing of this: some ignore devices in silence. Blocks, shortly. Errors:
// unavailable, naming the device; not_found (the process has ended).
Result<> check_devices(std::int64_t pid, std::span<const CdiNode> nodes);

// Those of `ids` whose container was out of memory, by the kernel's log; what has left its ring is not known.
std::set<std::string> out_of_memory(const std::string& kernel_log, std::span<const std::string> ids);

}  // namespace hostler::docker

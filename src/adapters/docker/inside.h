// What of a container only the host's kernel knows, and what the host lays ready for it.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "adapters/docker/cdi.h"

namespace hostler::docker {

// Looks for the node's device on this host and says what to mount for it: the host's node if everyone may
// open it; else one of our own in `folder`, which only root enters, since a container's root is nobody to the
// host's permissions. Blocks, shortly. Errors: not_found, invalid (it is no device), unavailable.
Result<> find_device(CdiNode& node, const std::string& folder);

// A file of ours with this content. Blocks, shortly. Errors: unavailable.
Result<> keep_file(const std::string& folder, std::string_view name, std::string_view text);

// That each node is there in the container of process `pid`, and is the host's device. An engine's word that
// it started a container says nothing of this: some ignore devices in silence. Blocks, shortly. Errors:
// unavailable, naming the device; not_found (the process has ended).
Result<> check_devices(std::int64_t pid, std::span<const CdiNode> nodes);

// Those of `ids` whose container was out of memory, by the kernel's log; what has left its ring is not known.
std::set<std::string> out_of_memory(const std::string& kernel_log, std::span<const std::string> ids);

}  // namespace hostler::docker

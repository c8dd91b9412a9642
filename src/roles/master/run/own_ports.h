// Without a wildcard domain each port of an instance is a port of the gateway's own.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Each gets one that no other instance has. Errors: conflict (no_gateway_port).
Result<> give_own_ports(const Desk& desk, std::vector<InstancePort>& ports);
// The same for ports of this instance that have none, or whose own another instance has by now.
Result<> keep_own_ports(const Desk& desk, const std::string& id, std::vector<InstancePort>& ports);

}  // namespace hostler::master

// Projects' networks: a subnet on each host where one of their instances stands.
#pragma once

#include "roles/master/command/commands.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// The project's subnet on this host (`place`: tenant, project, host), made if need be; one that is made has
// the index `before`, if nobody else has. Errors: conflict (no_subnet: the pool is used up).
Result<const Subnet*> subnet_for(Desk& desk, const OfProject& place,
                                 std::optional<std::uint32_t> before = std::nullopt);

// Errors: conflict (name_taken: another network of its tenant has this name).
Result<> rename_network(Desk& desk, const std::string& id, const std::string& name);

// An instance has left it: when it was the last, the host removes it. Empty and unknown ids are let pass.
void leave_subnet(Desk& desk, const std::string& id);

void note_subnet(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

// Removes once more what a host failed to remove, and what nobody stands in.
void reconcile_subnets(Desk& desk);

// In which a workload stands that the store does not know: nobody else gets its addresses, if they are still
// free.
void hold_subnet(Desk& desk, const Claim& claim, std::uint32_t index);

}  // namespace hostler::master

// Places that instances have left: what they held there is held until the host says that nothing of them
// runs.
#pragma once

#include "roles/master/command/commands.h"

namespace hostler::master {

// Whether its host can be trusted to stop it, and has nothing of an earlier run. Always, if it does not move.
bool may_run_at(const Desk& desk, const Instance& instance, const std::string& host);

// A host that is back is told to stop what moved away from it; with its answer what was held there is free.
void reconcile_left(Desk& desk, const std::string& host);
void note_left(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void forget_left(Desk& desk, const std::string& host);  // It was removed.

// The subject of its command, and back.
std::string left_subject(const std::string& instance, const std::string& host);
std::string left_instance(const std::string& subject);

}  // namespace hostler::master

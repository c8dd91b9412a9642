// What hosts answer to commands about instances, and about volumes that instances wait for.
#pragma once

#include "roles/master/command/commands.h"

namespace hostler::master {

void note_start_phase(Desk& desk, const HostCommand& command, const std::string& phase,
                      const std::string& message);
void note_started(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void note_stopped(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void note_left_stopped(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void note_stopped_if_unused(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void note_volume_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

}  // namespace hostler::master

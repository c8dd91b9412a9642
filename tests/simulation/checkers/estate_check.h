// What must hold of the estate and of what runs, at every moment.
#pragma once

#include "adapters/sim/world.h"
#include "findings.h"
#include "roles/master/term.h"

namespace hostler::simulation {

void check_claims(const master::Desk& desk, Findings& found);
void check_sizes(const master::Desk& desk, const std::map<std::string, std::uint64_t>& on_disk,
                 Findings& found);
void check_reports(const master::Desk& desk, Findings& found);
void check_room(const master::Desk& desk, Findings& found);
void check_engine(const sim::Machine& machine, Findings& found);

}  // namespace hostler::simulation

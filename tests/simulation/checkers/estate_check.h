// What must hold of the estate and of what runs, at every moment.
#pragma once

#include "adapters/sim/world.h"
#include "findings.h"
#include "roles/master/term.h"

namespace hostler::simulation {

void check_claims(const master::Desk& desk, Findings& found);
// Who holds which GPU, from one look to the next.
class FitCheck {
public:
    // A GPU that was unfit and is, and has another holder now, was given away though it was known.
    void look(const master::Desk& desk, Findings& found);

private:
    std::map<std::string, std::string> unfit_;  // Holder by GPU; empty: nobody.
};

void check_sizes(const master::Desk& desk, const std::map<std::string, std::uint64_t>& on_disk,
                 Findings& found);
void check_reports(const master::Desk& desk, Findings& found);
void check_room(const master::Desk& desk, Findings& found);
void check_engine(const sim::Machine& machine, Findings& found);

}  // namespace hostler::simulation

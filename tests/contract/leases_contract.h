// What an agent and its supervisor may count on (ports/leases.h).
#pragma once

#include "ports/leases.h"
#include "rig.h"

namespace hostler::contract {

class LeasesRig : public Rig {
public:
    virtual LeaseBook& leases() = 0;
    virtual void restart() = 0;  // The process ends and comes again.
    int supervisors = 0;         // That were started.
};

using LeasesContract = Contract<LeasesRig>;

}  // namespace hostler::contract

// What the master's rules work on. A rule reads and changes the estate at once; it never waits.
#pragma once

#include "core/random.h"
#include "domain/network/network.h"
#include "roles/master/state/estate.h"
#include "roles/master/state/live.h"
#include "roles/master/state/settings.h"

namespace hostler::master {

struct Desk {
    Estate& estate;
    Live& live;
    const Settings& settings;
    const AddressPool& pool;
    Random& random;
};

}  // namespace hostler::master

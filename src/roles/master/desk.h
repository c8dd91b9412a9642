// What the master's rules work on. A rule reads and changes the estate at once; it never waits.
#pragma once

#include "core/random.h"
#include "domain/network/network.h"
#include "roles/master/estate.h"
#include "roles/master/live.h"
#include "roles/master/settings.h"

namespace hostler::master {

struct Desk {
    Estate& estate;
    Live& live;
    const Settings& settings;
    const AddressPool& pool;
    Random& random;
};

}  // namespace hostler::master

// What an access point asks of the world.
#pragma once

#include <string>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "ports/certified.h"
#include "ports/journal.h"

namespace hostler::access {

// All of them outlive the role.
struct Ports {
    Loop& loop;
    Timers& timers;
    Net& net;
    Random& random;
    Journal& journal;
    Certified& own;             // "access/NAME".
    std::string version = "0";  // For people: what runs here.
};

}  // namespace hostler::access

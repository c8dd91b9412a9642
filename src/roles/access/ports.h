// What an access point asks of the world.
#pragma once

#include <memory>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "ports/journal.h"

namespace hostler::access {

// All but the credentials outlive the role.
struct Ports {
    Loop& loop;
    Timers& timers;
    Net& net;
    Random& random;
    Journal& journal;
    std::shared_ptr<const Credentials> credentials;  // "access/NAME".
    std::string version = "0";                       // For people: what runs here.
};

}  // namespace hostler::access

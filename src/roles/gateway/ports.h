// What a gateway asks of the world.
#pragma once

#include <memory>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "ports/journal.h"

namespace hostler::gateway {

// All but the credentials outlive the role.
struct Ports {
    Loop& loop;
    Timers& timers;
    Net& net;
    Random& random;
    Journal& journal;  // The highest epoch seen; sign-outs that no master has heard.
    std::shared_ptr<const Credentials> credentials;  // "gateway/NAME".
    std::string version = "0";                       // For people: what runs here.
};

}  // namespace hostler::gateway

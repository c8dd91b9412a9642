// What a gateway asks of the world.
#pragma once

#include <string>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "http/arrival.h"
#include "ports/certified.h"
#include "ports/digest.h"
#include "ports/journal.h"

namespace hostler::gateway {

// All of them outlive the role.
struct Ports {
    Loop& loop;
    Timers& timers;
    Net& net;
    Random& random;
    Journal& journal;  // The highest epoch seen; sign-outs that no master has heard; routes, and
                       // whom to believe, for when no master answers.
    const Digest& digest;
    Certified& own;             // "gateway/NAME".
    std::string version = "0";  // For people: what runs here.
    http::Arrival arrival{};    // Of browsers and programs.
};

}  // namespace hostler::gateway

// The Outgoing port by libcurl.
#pragma once

#include <memory>

#include "adapters/curl/reach.h"
#include "ports/outgoing.h"

namespace hostler::curl {

// `loop` and `timers` outlive it.
std::unique_ptr<Outgoing> make_outgoing(Loop& loop, Timers& timers, ReachPolicy policy = {});

}  // namespace hostler::curl

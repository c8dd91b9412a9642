// Accepting for ever: passing trouble (too many open files, a peer that is gone already) ends nothing.
#pragma once

#include <functional>

#include "core/stream.h"

namespace hostler::access {

// Hands each connection to `take` until the listener is closed or the task is cancelled.
Task<> accept_all(Listener& listener, Timers& timers, std::function<void(StreamPtr)> take);

// "10.0.0.7:4411" → "10.0.0.7": what rates of peers are kept by.
std::string without_port(std::string_view address);

}  // namespace hostler::access

// Bytes from one stream to another and back.
#pragma once

#include <functional>

#include "core/stream.h"

namespace hostler::agent {

// Told when bytes have gone through: from `a` to `b`, and back.
struct PumpSeen {
    std::function<void()> forth{};
    std::function<void()> back{};
};

// Copies both ways until both have finished or either breaks; a half that finishes is passed on. Reads no
// faster than the other side takes, and holds no buffer while nothing waits.
Task<> pump(Loop& loop, Stream& a, Stream& b, const PumpSeen& seen = {});

}  // namespace hostler::agent

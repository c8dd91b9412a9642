// Two streams joined: what one says, the other hears. For WebSockets, tunnels and hijacked connections.
#pragma once

#include "core/stream.h"

namespace hostler::http {

struct Piped {
    std::uint64_t forth = 0;  // Bytes from a to b.
    std::uint64_t back = 0;
    bool idle = false;  // It ended because neither side said anything for too long.
};

// Until both sides have finished, one has broken, or nothing has moved for `idle_time`. When one side
// finishes, the other is told and may go on. Both streams are closed at the end. Errors: cancelled.
Task<Piped> pipe(Stream& a, Stream& b, Timers& timers, Duration idle_time);

}  // namespace hostler::http

// Bytes from one stream to another and back.
#pragma once

#include <cstdint>

#include "core/signal.h"
#include "core/stream.h"
#include "core/task_group.h"

namespace hostler::access {

// How many bytes went each way.
struct Copied {
    std::uint64_t forth = 0;
    std::uint64_t back = 0;
};

// Copies both ways until both have finished, or one of them breaks; a half that finishes is passed on. Reads no
// faster than the other side takes. While nothing moves, no buffer is held.
Task<> copy_both_ways(Loop& loop, Stream& a, Stream& b, Copied& copied);

}  // namespace hostler::access

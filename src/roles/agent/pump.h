// Bytes from one stream to another and back.
#pragma once

#include "core/stream.h"

namespace hostler::agent {

// Copies both ways until both have finished or either breaks; a half that finishes is passed on. Reads no
// faster than the other side takes, and holds no buffer while nothing waits.
Task<> pump(Loop& loop, Stream& a, Stream& b);

}  // namespace hostler::agent

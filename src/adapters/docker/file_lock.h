// A lock that agents on one host share, as while one takes over from another.
#pragma once

#include <chrono>

namespace hostler::docker {

// Locks the open file `file` against others, and tries until `within` has passed. Blocks. False, with errno:
// another has it still (EWOULDBLOCK), or it cannot be locked.
bool lock_within(int file, std::chrono::milliseconds within);

}  // namespace hostler::docker

// This process's standard input and output as a stream, and its signals as they come.
#pragma once

#include <functional>

#include "core/stream.h"

namespace hostler::net {

// Neither is made non-blocking, since other programs share them.
StreamPtr stdio_stream(Loop& loop);
// Gives the next of these signals. It keeps them from ending the process as long as it lives.
std::function<Task<int>()> signals(Loop& loop, std::vector<int> numbers);

}  // namespace hostler::net

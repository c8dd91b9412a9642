// Runs a program that may take minutes, without a thread for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler::docker {

// What it says goes into the file `output`. Whoever stops waiting for it kills it, with all that it started.
// Its exit status; 128 + the signal's number for one that was killed. Errors: not_found (no such program),
// timeout, unavailable (no process can be made), cancelled.
Task<int> run_long(Timers& timers, std::vector<std::string> arguments, std::filesystem::path output,
                   Duration deadline);

}  // namespace hostler::docker

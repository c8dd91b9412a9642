// Runs a short program and waits for it. Blocks: for a Worker.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::docker {

struct Outcome {
    int exit_code = 0;   // 128 + the signal's number for one that was killed.
    std::string output;  // Both streams, the first 64 KiB.
};

// Gives `input` to `arguments[0]` (looked up in PATH) and waits until it ends. Past the deadline it is
// killed. Errors: not_found (no such program), timeout, unavailable (no process can be made).
Result<Outcome> run_process(std::vector<std::string> arguments, std::string input,
                            std::chrono::milliseconds deadline);

}  // namespace hostler::docker

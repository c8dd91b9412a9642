// Other programs, started and waited for.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hostler {

struct Spawn {
    // Descriptors of ours, each with its number there. Of 0, 1 and 2 those that are not named are as ours;
    // all others are closed there as far as they are close-on-exec.
    std::vector<std::pair<int, int>> streams{};
    bool own_group = false;  // kill(-pid) then ends it with all that it starts.
    std::optional<std::vector<std::string>> environment{};  // "NAME=value"; nullopt: as ours.
};

// Starts `arguments[0]`, looked up in PATH; no signal is blocked or ignored there. Errors: not_found (no such
// program), unavailable (no process can be made).
Result<pid_t> spawn(std::span<const std::string> arguments, const Spawn& how);

// The exit status of a child that has ended, 128 + the signal's number for one that was killed; nullopt: it
// runs. To be called until it tells, and not again.
std::optional<int> ended(pid_t child);
int wait_end(pid_t child);  // Blocks until then.

}  // namespace hostler

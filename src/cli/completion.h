// Completion in shells: the scripts for them, and what they ask for.
#pragma once

#include "cli/commands.h"
#include "core/task.h"

namespace hostler::cli {

// For "bash", "zsh" or "fish". Errors: invalid.
Result<std::string> completion_script(std::string_view shell);

// Prints what may stand for the last of `words`, one a line; ":files" stands for the names of files. Names of
// objects are asked for within a second; when they cannot be had, nothing is said. Never fails.
Task<> complete(CliWorld& world, std::vector<std::string> words);

}  // namespace hostler::cli

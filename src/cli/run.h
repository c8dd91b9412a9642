// One command that is an operation: asked of the API, shown, waited for.
#pragma once

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/text.h"

namespace hostler::cli {

// Answers what this program ends with: the exit code of a job that was waited for, else 0. `yes`: nothing is
// asked before what cannot be undone. Errors: as the API's; invalid; those of waiting.
Task<int> run_operation(CliWorld& world, ApiClient& client, const Command& command, const Style& style,
                        bool yes);

}  // namespace hostler::cli

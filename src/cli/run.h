// One command that is an operation: asked of the API, shown, waited for.
#pragma once

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/text.h"

namespace hostler::cli {

// `yes`: nothing is asked before what cannot be undone. Errors: as the API's; invalid; those of waiting.
Task<> run_operation(CliWorld& world, ApiClient& client, const Command& command, const Style& style,
                     bool yes);

}  // namespace hostler::cli

// `hostler run`: submits a job, prints its output, and ends as its program does.
#pragma once

#include "cli/client.h"
#include "cli/run_command.h"
#include "cli/text.h"

namespace hostler::cli {

// Answers the exit code of the job's program, 1 where it has none, and 128 + N when signal N ended this
// program. Errors: as the API's; invalid, with every flag that is wrong.
Task<int> run_job(CliWorld& world, ApiClient& client, const RunCommand& command, const Style& style);

}  // namespace hostler::cli

// `hostler watch`: one line for each change of an object.
#pragma once

#include "cli/client.h"
#include "cli/render.h"

namespace hostler::cli {

inline constexpr int watch_tries_max = 10;  // In a row, each half a second apart.

// Until the stream ends for good: one that breaks off is taken up where it was. Errors: as the API's.
Task<> run_watch(CliWorld& world, ApiClient& client, const api::Operation& operation, ApiCall call,
                 Style style);

}  // namespace hostler::cli

// What went wrong, and what would help, on standard error.
#pragma once

#include "cli/world.h"

namespace hostler::cli {

void print_error(CliWorld& world, const Error& error);

}  // namespace hostler::cli

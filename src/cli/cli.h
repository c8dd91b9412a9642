// One run of the command line, with the world around it as a parameter.
#pragma once

#include <string>
#include <vector>

#include "cli/world.h"

namespace hostler::cli {

// `args` without the program's name. Answers an Exit, or what a remote program ended with.
Task<int> cli(std::vector<std::string> args, CliWorld& world);
// The same for main(): runs the loop until it is done.
int run_cli(int argc, const char* const* argv, CliWorld& world);

}  // namespace hostler::cli

// The option --cluster-saves of agents and of `hostler up`.
#pragma once

#include <string>

#include "core/result.h"

namespace hostler::bin {

// The folder without "." and a last "/"; empty: none was given. Saves hold the keys of clusters, so that it
// must be closed to others than its owner. Errors: invalid, with the option.
Result<std::string> saves_folder(const std::string& given, bool clusters);

}  // namespace hostler::bin

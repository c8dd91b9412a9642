// Scripts that complete commands in a shell; they ask `hostler __complete`.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::cli {

// Errors: invalid (no such shell).
Result<std::string> completion_script(std::string_view shell);

}  // namespace hostler::cli

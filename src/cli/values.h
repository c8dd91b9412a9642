// Values as they are typed: numbers, times, and secrets that are read from elsewhere.
#pragma once

#include <boost/json.hpp>
#include <chrono>

#include "cli/world.h"

namespace hostler::cli {

// Errors: invalid.
Result<boost::json::value> whole_number(std::string_view text);

// "90s", "10m", "1h", "30d", or a number of seconds. Errors: invalid.
Result<std::chrono::seconds> parse_time(std::string_view text);

// A secret: from a file for "@FILE", from standard input for "-", asked for where `from` is empty. `flag`: as
// messages name it. Errors: invalid; it is not repeated.
Result<std::string> hidden_text(std::string_view from, const std::string& prompt, std::string_view flag,
                                const CliWorld& world);

}  // namespace hostler::cli

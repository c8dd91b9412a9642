// A command line, split as a shell would.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::master {

// Blanks separate; '…' keeps all, "…" all but \" \\ \$ \` ; a backslash outside quotes keeps the next
// character. Nothing is expanded. Errors: invalid (a quote without its end).
Result<std::vector<std::string>> shell_words(std::string_view line);

}  // namespace hostler::master

// Documents in which some parts are written from tables in the code. `./dev gen` writes them, and a tidy test
// fails when they are stale.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

using WritePart = std::function<Result<std::string>(std::string_view name)>;

// The document with what `part` says between each "<!-- KIND: NAME -->" and "<!-- /KIND -->". Errors: invalid
// (a part without its end), those of `part`.
Result<std::string> with_parts(std::string_view document, std::string_view kind, const WritePart& part);

}  // namespace hostler

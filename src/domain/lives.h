// The lives as documents show them. `./dev gen` writes them, and a tidy test fails when they are stale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler {

// "instance", "host", "command".
std::vector<std::string_view> life_names();

// A table of phases and a state diagram, in Markdown. Errors: not_found.
Result<std::string> draw_life(std::string_view name);

// The document with each life drawn anew between "<!-- life: NAME -->" and "<!-- /life -->". Errors:
// not_found (no such life), invalid (a life without its end).
Result<std::string> with_lives(std::string_view document);

}  // namespace hostler

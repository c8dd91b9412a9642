// The tables as docs/operate/gpu-health.md shows them. `./dev gen` writes them, and a tidy test fails when
// they are stale.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::health {

// The document with each table written anew between "<!-- health: NAME -->" and "<!-- /health -->"; NAME is
// xid, nvlink, sxid or samples. Errors: not_found (no such table), invalid (a table without its end).
Result<std::string> with_tables(std::string_view document);

}  // namespace hostler::health

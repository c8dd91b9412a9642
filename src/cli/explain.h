// Answers of `explain` and of dry runs in sentences.
#pragma once

#include <optional>

#include "cli/cell.h"

namespace hostler::cli {

// Nothing when the answer is none of these.
std::optional<std::string> render_explanation(const api::Schema& schema, const json::value& object,
                                              const Style& style);

}  // namespace hostler::cli

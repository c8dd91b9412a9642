// From what was typed to a request.
#pragma once

#include "cli/client.h"
#include "cli/commands.h"

namespace hostler::cli {

// Errors: invalid, with every flag that is wrong or missing. A tenantID that is missing is no error: see
// needs_tenant.
Result<ApiCall> to_call(const Command& command, const CliWorld& world);
// Fields put where the operation wants them.
ApiCall place_fields(const api::Operation& operation, json::object fields);

// The request must have a tenantID and has none: it is the key's own tenant.
bool needs_tenant(const Command& command, const ApiCall& call);

// A secret: from a file for "@FILE", from standard input for "-", asked for where `from` is empty. `flag`: as
// messages name it. Errors: invalid; it is not repeated.
Result<std::string> hidden_text(std::string_view from, const std::string& prompt, std::string_view flag,
                                const CliWorld& world);

// "90s", "10m", "1h", "30d", or a number of seconds. Errors: invalid.
Result<std::chrono::seconds> parse_time(std::string_view text);

}  // namespace hostler::cli

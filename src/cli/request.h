// From what was typed to a request.
#pragma once

#include "cli/client.h"
#include "cli/commands.h"

namespace hostler::cli {

// Errors: invalid, with every flag that is wrong or missing. A tenantID that is missing is no error: see
// needs_tenant.
Result<ApiCall> to_call(const Command& command, const CliWorld& world);
// Reads and asks nothing, so that it can be called before there is an API to call. Errors: invalid, with
// every flag that is missing for sure.
Result<> check_given(const Command& command);
// A value as it is typed, of a field or (without `field`) of an item of a list. Errors: invalid.
Result<json::value> to_value(const api::Schema& schema, const api::Field* field, std::string_view text,
                             const CliWorld& world);
// Fields put where the operation wants them.
ApiCall place_fields(const api::Operation& operation, json::object fields);

// The request must have a tenantID and has none: it is the key's own tenant.
bool needs_tenant(const Command& command, const ApiCall& call);

}  // namespace hostler::cli

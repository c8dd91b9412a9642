// Calls that take long.
#pragma once

#include "api/operation.h"
#include "api/types_long_operation.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListOperations, List<LongOperation>> list_operations{{
    .name = "listOperations", .path = "/v1/operations", .permission = Permission::operation_read,
    .help = "List long-running operations.", .list = true, .noun = "operation", .verb = "list",
    .columns = "id kind subject state createdAt endedAt message"}};
inline constexpr Typed<GetOperation, LongOperation> get_operation{{
    .name = "getOperation", .path = "/v1/operations/{operation}", .permission = Permission::operation_read,
    .help = "Show the progress of an operation.", .noun = "operation", .verb = "get"}};

}  // namespace hostler::api::ops

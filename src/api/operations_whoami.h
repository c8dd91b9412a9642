// Whom a key belongs to.
#pragma once

#include "api/operation.h"
#include "api/types_whoami.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, Whoami> whoami{{
    .name = "whoami", .path = "/v1/whoami", .permission = Permission::self_read,
    .help = "Show the caller of this key.", .noun = "whoami", .verb = ""}};

}  // namespace hostler::api::ops

// The whole fleet in columns.
#pragma once

#include "api/operation.h"
#include "api/types_fleet.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<GetFleet, Fleet> get_fleet{{
    .name = "getFleet", .path = "/v1/fleet", .permission = Permission::gpu_read,
    .help = "Show the fleet in columns, a value for each GPU: for maps of many GPUs, and for programs.",
    .noun = "fleet", .verb = "get", .example = "fleet get --zone nj --values use,temperature -o json"}};

}  // namespace hostler::api::ops

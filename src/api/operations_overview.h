// The caller's cloud at a glance.
#pragma once

#include "api/operation.h"
#include "api/types_overview.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, Overview> overview{{
    .name = "getOverview", .path = "/v1/overview", .permission = Permission::self_read,
    .help = "Show what runs, what waits and why, free GPUs, quotas and alerts, as far as the caller may read them.",
    .noun = "overview", .verb = ""}};

}  // namespace hostler::api::ops

// Where tasks would go.
#pragma once

#include "api/operation.h"
#include "api/types_placement.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ExplainPlacement, PlacementAnswer> explain_placement{{
    .name = "explainPlacement", .method = Method::post, .path = "/v1/placements",
    .permission = Permission::offer_read,
    .help = "Show where tasks would be placed now, or why there is no room. Nothing is reserved.", .noun = "placement",
    .verb = "explain", .example = "placement explain --gpus 4 --model h100 --near lon --within-km 300"}};

}  // namespace hostler::api::ops

// Search: objects by id or name.
#pragma once

#include "api/operation.h"
#include "api/types_search.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Search, SearchResult> search{{
    .name = "search", .path = "/v1/search", .permission = Permission::self_read,
    .help = "Find objects by id or name, as far as the caller may read them.",
    .noun = "search", .verb = "", .argument = "q",
    .example = "search notebook"}};

}  // namespace hostler::api::ops

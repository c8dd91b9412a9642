// Changes of objects of all kinds, as they happen.
#pragma once

#include "api/operation.h"
#include "api/types_watch.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<WatchChanges, ObjectChange> watch_changes{{
    .name = "watchChanges", .path = "/v1/watch", .permission = Permission::self_read,
    .help = "Follow the changes of all objects that the caller may read, as server-sent events without the objects themselves.",
    .stream = true, .noun = "watch", .verb = "",
    .columns = "kind change id name tenantID project provider",
    .example = "watch --kinds instance,volume"}};

}  // namespace hostler::api::ops

// Components: the parts that a cloud consists of.
#pragma once

#include "api/operation.h"
#include "api/types_component.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<Component>> list_components{{
    .name = "listComponents", .path = "/v1/components", .permission = Permission::access_read,
    .help = "List the parts of the cloud: masters, gateways, access points, store, series, authorities.",
    .list = true, .pages = Pages::own, .noun = "component", .verb = "list",
    .columns = "kind id state address version since seenAt expiresAt sizeBytes zone message"}};

}  // namespace hostler::api::ops

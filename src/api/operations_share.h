// Links that open a port of an instance.
#pragma once

#include "api/operation.h"
#include "api/types_share.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateShare, CreatedShare> create_share{{
    .name = "createShare", .method = Method::post, .path = "/v1/instances/{instance}/shares",
    .permission = Permission::instance_share,
    .help = "Create a link that opens one port in a browser, without a key.",
    .status = 201, .noun = "instance", .verb = "share", .argument = "port",
    .example = "instance share notebook-1 8080 --for 8h"}};
inline constexpr Typed<ListShares, List<Share>> list_shares{{
    .name = "listShares", .path = "/v1/instances/{instance}/shares", .permission = Permission::instance_read,
    .help = "List the share links of an instance.", .list = true, .noun = "instance", .verb = "shares",
    .columns = "id port expiresAt opened madeBy createdAt"}};
inline constexpr Typed<NameShare, Empty> delete_share{{
    .name = "deleteShare", .method = Method::delete_, .path = "/v1/shares/{share}",
    .permission = Permission::instance_share, .help = "Revoke a share link, also for people who have opened it.",
    .noun = "instance", .verb = "unshare", .example = "instance unshare sh-4t1b9r"}};

}  // namespace hostler::api::ops

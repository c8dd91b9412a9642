// Moves that free whole hosts.
#pragma once

#include "api/operation.h"
#include "api/types_consolidation.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<Consolidation>> list_consolidations{{
    .name = "listConsolidations", .path = "/v1/consolidations",
    .permission = Permission::consolidation_read, .help = "List consolidations, also finished ones.", .list = true,
    .noun = "consolidation", .verb = "list",
    .columns = "id state gpus movesDone movesTotal restarts zone createdAt endedAt message"}};
inline constexpr Typed<GetConsolidation, Consolidation> get_consolidation{{
    .name = "getConsolidation", .path = "/v1/consolidations/{consolidation}",
    .permission = Permission::consolidation_read,
    .help = "Show the progress of a consolidation.", .noun = "consolidation",
    .verb = "get"}};
inline constexpr Typed<CreateConsolidation, Consolidation> create_consolidation{{
    .name = "createConsolidation", .method = Method::post, .path = "/v1/consolidations",
    .permission = Permission::consolidation_write,
    .help = "Move workloads so that whole hosts become free. A dry run answers the plan.",
    .status = 201, .noun = "consolidation", .verb = "create",
    .confirm = "Moved instances are stopped and started again.",
    .example = "consolidation create --zone lon --dry-run"}};
inline constexpr Typed<GetConsolidation, Consolidation> cancel_consolidation{{
    .name = "cancelConsolidation", .method = Method::post,
    .path = "/v1/consolidations/{consolidation}/cancel",
    .permission = Permission::consolidation_write,
    .help = "Cancel a consolidation: no further moves begin, and stopped instances "
                                           "are started again first.",
    .noun = "consolidation", .verb = "cancel", .example = "consolidation cancel co-4t1b9rk2mx"}};

}  // namespace hostler::api::ops

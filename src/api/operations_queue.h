// Queues of jobs.
#pragma once

#include "api/operation.h"
#include "api/types_queue.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<SetQueue, Queue> set_queue{{
    .name = "setQueue", .method = Method::put, .path = "/v1/queues", .permission = Permission::queue_write,
    .help = "Say which part of the cloud the jobs of a tenant, a project or a user get. It replaces the present settings.",
    .noun = "queue", .verb = "set", .example = "queue set --tenant acme --project lab --weight 3 --guaranteed-gpus 4"}};
inline constexpr Typed<ListQueues, List<Queue>> list_queues{{
    .name = "listQueues", .path = "/v1/queues", .permission = Permission::queue_read,
    .help = "List queues: those with settings, and those in which jobs wait or run.", .list = true, .pages = Pages::own,
    .noun = "queue", .verb = "list",
    .columns = "tenantID project user name weight summary shareMilli entitledMilli usedMilli borrows runningElements waitingElements version"}};
inline constexpr Typed<DeleteQueue, Empty> delete_queue{{
    .name = "deleteQueue", .method = Method::delete_, .path = "/v1/queues", .permission = Permission::queue_write,
    .help = "Delete the settings of a queue: it has weight 1, no guarantee and no limit.", .body = Body::or_query,
    .noun = "queue", .verb = "delete", .confirm = "Its weight, guarantee and limit are deleted.",
    .example = "queue delete --tenant acme --project lab"}};

}  // namespace hostler::api::ops

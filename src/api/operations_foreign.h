// Workloads that run and are not in the store.
#pragma once

#include "api/operation.h"
#include "api/types_foreign.h"
#include "api/types_instance.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListForeignWorkloads, List<ForeignWorkload>> list_foreign_workloads{{
    .name = "listForeignWorkloads", .path = "/v1/foreign-workloads",
    .permission = Permission::foreign_read,
    .help = "List unmanaged workloads: they run on hosts and are not in the store.", .list = true,
    .noun = "reconcile", .verb = "review",
    .columns = "id host tenantID name state decision gpus image seenSince message why",
    .example = "reconcile review --decision open"}};
inline constexpr Typed<NameForeignWorkload, Instance> adopt_foreign_workload{{
    .name = "adoptForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/adopt",
    .permission = Permission::foreign_write,
    .help = "Adopt an unmanaged workload as an instance of its tenant, as it runs.", .noun = "reconcile", .verb = "adopt",
    .example = "reconcile adopt i-7k2m9x"}};
inline constexpr Typed<SettleForeignWorkload, ForeignWorkload> keep_foreign_workload{{
    .name = "keepForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/keep",
    .permission = Permission::foreign_write,
    .help = "Leave an unmanaged workload running: it holds its place until it ends.", .noun = "reconcile", .verb = "keep",
    .example = "reconcile keep i-7k2m9x --why 'the lab looks after it'"}};
inline constexpr Typed<SettleForeignWorkload, ForeignWorkload> remove_foreign_workload{{
    .name = "removeForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/remove",
    .permission = Permission::foreign_write, .help = "Stop and remove an unmanaged workload.",
    .noun = "reconcile", .verb = "remove", .confirm = "It is stopped for good; volumes stay on its host.",
    .example = "reconcile remove i-7k2m9x"}};

}  // namespace hostler::api::ops

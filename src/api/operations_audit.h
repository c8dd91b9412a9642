// Who changed what.
#pragma once

#include "api/operation.h"
#include "api/types_audit.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListAudit, List<AuditEntry>> list_audit{{
    .name = "listAudit", .path = "/v1/audit", .permission = Permission::audit_read,
    .help = "List audit records, newest first: with a tenant's key those of the tenant, with an operator's all. A "
            "page may be short and still have a next one.",
    .list = true, .noun = "audit", .verb = "list",
    .columns = "time actor operation subject status tenantID address client",
    .example = "audit list --subject volume/v-3hq8 --since 24h"}};

}  // namespace hostler::api::ops

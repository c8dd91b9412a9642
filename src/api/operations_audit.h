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
    .list = true, .pages = Pages::own, .noun = "audit", .verb = "list",
    .columns = "time actor operation subject result tenantID status reason project zone address client",
    .example = "audit list --subject volume/v-3hq8 --since 24h"}};

inline constexpr Typed<VerifyAudit, AuditVerification> verify_audit{{
    .name = "verifyAudit", .path = "/v1/audit/verification", .permission = Permission::audit_read,
    .help = "Check the hashes and seals of a part of the audit. The command checks one part after the other to the end; with "
            "a file of `hostler audit export` it checks that file, without the API.",
    .noun = "audit", .verb = "verify", .example = "audit verify"}};

inline constexpr Typed<Empty, AuditChain> get_audit_chain{{
    .name = "getAuditChain", .path = "/v1/audit/chain", .permission = Permission::audit_read,
    .help = "Show where the chain of audit records begins and ends.", .noun = "audit", .verb = "chain",
    .example = "audit chain"}};

inline constexpr Typed<Empty, List<AuditSeal>> list_audit_seals{{
    .name = "listAuditSeals", .path = "/v1/audit/seals", .permission = Permission::audit_read,
    .help = "List the seals of the audit: the last record of each hour, signed by the authority. Seals outlive the records.",
    .list = true, .pages = Pages::own, .noun = "audit", .verb = "seals", .columns = "position time epoch hash authority",
    .example = "audit seals"}};

}  // namespace hostler::api::ops

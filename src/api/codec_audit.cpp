#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_audit.h"

namespace hostler::api {

void Rules<ListAudit>::check(const ListAudit& request, Wrong& wrong) {
    if (request.since && request.until && *request.until >= *request.since)
        wrong.push_back({"until", "must be less than since: nothing lies between them"});
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::AuditEntry)
HOSTLER_JSON(hostler::api::ListAudit)
HOSTLER_JSON(hostler::api::List<hostler::api::AuditEntry>)
HOSTLER_JSON(hostler::api::AuditChain)
HOSTLER_JSON(hostler::api::AuditSeal)
HOSTLER_JSON(hostler::api::List<hostler::api::AuditSeal>)
HOSTLER_JSON(hostler::api::VerifyAudit)
HOSTLER_JSON(hostler::api::AuditFinding)
HOSTLER_JSON(hostler::api::AuditVerification)

namespace hostler::api {

ApiArea audit_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_audit,
        &verify_audit,
        &get_audit_chain,
        &list_audit_seals,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"audit", "Changes through the API and refused calls, with their callers."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

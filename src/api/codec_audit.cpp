#include "api/codec_define.h"
#include "api/types_audit.h"

namespace hostler::api {

void Rules<ListAudit>::check(const ListAudit& request, Wrong& wrong) {
    if (request.since && request.until && *request.until >= *request.since)
        wrong.push_back({"until", "must be less than since: nothing lies between them"});
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::AuditEntry)
HOSTLER_JSON(hostler::api::ListAudit)
HOSTLER_JSON(hostler::api::List<hostler::api::AuditEntry>)

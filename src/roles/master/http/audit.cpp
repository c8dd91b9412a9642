#include "roles/master/http/audit.h"

namespace hostler::master {

void audit(Desk& desk, const api::Call& call, Subject before, Subject after) {
    const Subject& known = before.name.empty() ? after : before;
    desk.estate.audit({.time = desk.estate.time(),
                       .actor = call.caller.actor,
                       .address = call.caller.address,
                       .operation = std::string{call.operation->name},
                       .subject = known.name,
                       .tenant = known.tenant,
                       .status = call.operation->status,
                       .before = std::move(before.shown),
                       .after = std::move(after.shown),
                       .client = call.caller.client});
}

}  // namespace hostler::master

#include "roles/master/http/audit.h"

namespace hostler::master {

namespace {

// Where it is: in its own zone, in its host's, or it is a zone itself.
std::string zone_of_subject(const Desk& desk, const Subject& subject) {
    constexpr std::string_view zones = "zone/";
    if (!subject.zone.empty()) return subject.zone;
    if (subject.name.starts_with(zones)) return subject.name.substr(zones.size());
    const Host* host = subject.host.empty() ? nullptr : desk.estate.hosts.find(subject.host);
    return host ? host->zone : "";
}

}  // namespace

void audit(Desk& desk, const api::Call& call, Subject before, Subject after) {
    const Subject& known = before.name.empty() ? after : before;
    const Subject& placed = after.zone.empty() && after.host.empty() ? before : after;
    desk.estate.audit({.time = desk.estate.time(),
                       .actor = call.caller.actor,
                       .address = call.caller.address,
                       .operation = std::string{call.operation->name},
                       .subject = known.name,
                       .tenant = known.tenant,
                       .status = call.operation->status,
                       .before = std::move(before.shown),
                       .after = std::move(after.shown),
                       .client = call.caller.client,
                       .project = known.project,
                       .zone = zone_of_subject(desk, placed.name.empty() ? known : placed),
                       .service = std::string{call.operation->noun},
                       .result = std::string{audit_ok},
                       .request = call.caller.request_id});
}

}  // namespace hostler::master

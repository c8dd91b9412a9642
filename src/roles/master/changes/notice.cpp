#include "roles/master/changes/notice.h"

namespace hostler::master {

bool may_know(const Principal& principal, const std::string& actor, const Notice& notice) {
    const Audience& audience = notice.audience;
    if (!audience.subject.empty() && audience.subject == actor) return true;
    if (audience.own) return false;
    if (audience.everywhere) return authorize_anywhere(principal, notice.permission);
    // Of what everybody may see of the cloud, a tenant's own is its own.
    const bool catalogue = row_of(notice.permission).level == PermissionLevel::catalogue;
    if (catalogue && audience.scope.kind != ScopeKind::cloud)
        return authorize_within(principal, notice.permission, audience.scope.tenant);
    return authorize(principal, notice.permission, audience.scope);
}

Notice notice_of_events(const std::string& tenant) {
    return {.kind = event_kind,
            .permission = Permission::event_read,
            .id = tenant.empty() ? std::string{cloud_events} : tenant,
            .name = {},
            .audience = {.scope = tenant.empty() ? Scope::cloud() : Scope::of_tenant(tenant)}};
}

}  // namespace hostler::master

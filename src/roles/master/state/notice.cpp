#include "roles/master/state/notice.h"

#include "roles/master/state/kinds.h"

namespace hostler::master {

namespace {

constexpr ShownKind shown[] = {
#define PART(type)
#define KIND(...)
#define HIDDEN(type, why)
#define SHOWN(type, word, permission, ...) {word, Kind<type>::name, Permission::permission},
#define SHOWN_PART SHOWN
#include "roles/master/kinds.def"
#undef KIND
#undef PART
    {event_kind, "", Permission::event_read},
};

constexpr HiddenKind hidden[] = {
#define PART(type)
#define KIND(...)
#define SHOWN(...)
#define SHOWN_PART(...)
#define HIDDEN(type, why) {Kind<type>::name, why},
#include "roles/master/kinds.def"
#undef KIND
#undef PART
};

}  // namespace

std::span<const ShownKind> shown_kinds() { return shown; }
std::span<const HiddenKind> hidden_kinds() { return hidden; }

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

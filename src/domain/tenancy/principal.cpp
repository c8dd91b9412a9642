#include "domain/tenancy/principal.h"

#include <algorithm>

namespace hostler {

bool authorize(const Principal& principal, Permission permission, const Scope& scope) {
    const PermissionLevel level = row_of(permission).level;
    if (level == PermissionLevel::anyone || level == PermissionLevel::catalogue)
        return authorize_anywhere(principal, permission);
    return std::ranges::any_of(principal.held, [&](const Held& held) {
        return held.permissions.has(permission) && reaches(held.scope, scope);
    });
}

bool authorize_anywhere(const Principal& principal, Permission permission) {
    if (principal.kind == PrincipalKind::stranger || principal.kind == PrincipalKind::share) return false;
    if (row_of(permission).level == PermissionLevel::anyone) return true;
    return std::ranges::any_of(principal.held,
                               [&](const Held& held) { return held.permissions.has(permission); });
}

bool authorize_within(const Principal& principal, Permission permission, const std::string& tenant) {
    const Scope at = Scope::of_tenant(tenant);
    return std::ranges::any_of(principal.held, [&](const Held& held) {
        return held.permissions.has(permission) && (reaches(held.scope, at) || reaches(at, held.scope));
    });
}

bool holds_all(const Principal& principal, const Permissions& all, const Scope& scope) {
    Permissions have;
    for (const Held& held : principal.held)
        if (reaches(held.scope, scope)) have = have | held.permissions;
    return have.has_all(all);
}

}  // namespace hostler

#include "domain/tenancy/principal.h"

#include <algorithm>
#include <map>

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
    return have.has_all(all.without(permissions_of_anyone()));
}

static bool counts_at(PermissionLevel level, ScopeKind kind) {
    switch (level) {
        case PermissionLevel::anyone: return false;
        case PermissionLevel::catalogue: return true;
        case PermissionLevel::project: return kind != ScopeKind::provider;
        case PermissionLevel::tenant: return kind == ScopeKind::cloud || kind == ScopeKind::tenant;
        case PermissionLevel::provider: return kind == ScopeKind::cloud || kind == ScopeKind::provider;
        case PermissionLevel::cloud: return kind == ScopeKind::cloud;
    }
    return false;
}

std::vector<Held> shown_scopes(const Principal& principal) {
    std::map<Scope, Permissions> at;
    for (const Held& held : principal.held)
        for (const PermissionRow& row : permissions)
            if (held.permissions.has(row.permission) && counts_at(row.level, held.scope.kind))
                at[held.scope].add(row.permission);
    std::vector<Held> scopes;
    for (const auto& [scope, all] : at) scopes.push_back({scope, all});
    return scopes;
}

}  // namespace hostler

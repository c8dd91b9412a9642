// Who asks, and whether they may: the one place where that is decided.
#pragma once

#include <string>
#include <vector>

#include "domain/tenancy/permission.h"
#include "domain/tenancy/scope.h"

namespace hostler {

enum class PrincipalKind {
    stranger,         // Nobody known: may do nothing.
    operator_,        // An API key of the operator.
    user,             // A person by a session.
    service_account,  // A key of a service account.
    tenant_key,       // An API key that is bound to one tenant.
    share,            // A visitor by a share link: opens one port and asks nothing.
};

// What a role gives at one scope.
struct Held {
    Scope scope;
    Permissions permissions;
};

struct Principal {
    PrincipalKind kind = PrincipalKind::stranger;
    std::string id;          // "k-…", "u-…", "sa-…"
    std::vector<Held> held;  // Grants add up; none takes away.
};

// Whether `principal` may do `permission` to what lies at `scope`.
bool authorize(const Principal& principal, Permission permission, const Scope& scope);
// Whether there is any scope at which they may.
bool authorize_anywhere(const Principal& principal, Permission permission);
// Within a tenant: at the tenant, or at one of its projects.
bool authorize_within(const Principal& principal, Permission permission, const std::string& tenant);
// Whether they have all of these at `scope`: nobody gives what they do not have.
bool holds_all(const Principal& principal, const Permissions& all, const Scope& scope);

// Permissions by scope, for display: each scope once, the widest first, with the permissions that count
// there. Those that every caller has are left out.
std::vector<Held> shown_scopes(const Principal& principal);

}  // namespace hostler

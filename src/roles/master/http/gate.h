// Whether a caller may, at the scope of an object. Every operation asks here before it shows or changes one.
#pragma once

#include <optional>
#include <string>

#include "api/handlers.h"

namespace hostler::master {

// Where a row lies: in its project, its tenant, or the cloud.
template <class Row>
Scope scope_of(const Row& row) {
    if (row.tenant.empty()) return Scope::cloud();
    if constexpr (requires { row.project; })
        return Scope::of_project(row.tenant, row.project);
    else
        return Scope::of_tenant(row.tenant);
}
Scope scope_of_tenant(const std::string& tenant);  // Empty: the cloud.
// Of a host and what is on it: its provider's.
Scope scope_of_provider(const std::string& owner);  // Empty: the cloud.

// Whether the caller has the operation's permission at `scope`; another permission.
bool may(const api::Call& call, const Scope& scope);
bool may(const api::Call& call, Permission permission, const Scope& scope);
// In the whole cloud.
bool may_everywhere(const api::Call& call);

// For an object that is there. Errors: `absent` when the caller may not see it; forbidden
// (permission_missing).
Result<> check(const api::Call& call, const Scope& scope, Error absent);
// For one that is to be. Errors: forbidden (permission_missing).
Result<> check_new(const api::Call& call, const Scope& scope);

// The tenant that a call names or means: one may leave it out who belongs to one tenant. Empty: all of them;
// only for callers who may in the whole cloud. Errors: forbidden (tenant_differs).
Result<std::string> tenant_meant(const api::Call& call, const std::optional<std::string>& named);
// The one tenant of a call that concerns no other. Errors: the same; invalid (a caller who may in the whole
// cloud names none).
Result<std::string> one_tenant_meant(const api::Call& call, const std::optional<std::string>& named);

}  // namespace hostler::master

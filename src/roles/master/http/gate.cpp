#include "roles/master/http/gate.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::master {

Scope scope_of_tenant(const std::string& tenant) {
    return tenant.empty() ? Scope::cloud() : Scope::of_tenant(tenant);
}

Scope scope_of_provider(const std::string& owner) {
    return owner.empty() ? Scope::cloud() : Scope::of_provider(owner);
}

bool may(const api::Call& call, Permission permission, const Scope& scope) {
    return authorize(call.caller.principal, permission, scope);
}

bool may(const api::Call& call, const Scope& scope) { return may(call, call.permission, scope); }

bool may_everywhere(const api::Call& call) {
    return std::ranges::any_of(call.caller.principal.held, [&](const Held& held) {
        return held.scope.kind == ScopeKind::cloud && held.permissions.has(call.permission);
    });
}

Result<> check(const api::Call& call, const Scope& scope, Error absent) {
    if (may(call, scope)) return {};
    if (!may(call, sight_of(call.permission), scope)) return std::unexpected(std::move(absent));
    return api::permission_missing(call.permission);
}

Result<> check_new(const api::Call& call, const Scope& scope) {
    if (may(call, scope)) return {};
    return api::permission_missing(call.permission);
}

Result<std::string> tenant_meant(const api::Call& call, const std::optional<std::string>& named) {
    if (may_everywhere(call)) return named.value_or("");
    if (!named && !call.caller.tenant.empty()) return call.caller.tenant;
    if (!named) return api::permission_missing(call.permission);
    if (authorize_within(call.caller.principal, call.permission, *named)) return *named;
    if (*named == call.caller.tenant) return api::permission_missing(call.permission);
    return fail(Code::forbidden,
                call.caller.tenant.empty()
                    ? fmt::format("you have no role in tenant {} for this", *named)
                    : fmt::format("this key belongs to tenant {}, not to {}", call.caller.tenant, *named),
                "tenant_differs");
}

Result<std::string> one_tenant_meant(const api::Call& call, const std::optional<std::string>& named) {
    std::string tenant = TRY(tenant_meant(call, named));
    if (!tenant.empty()) return tenant;
    Error error{Code::invalid, "an operator's key must name the owning tenant", "invalid"};
    error.fields.push_back({"tenantID", "is required with an operator's key"});
    return std::unexpected(std::move(error));
}

}  // namespace hostler::master

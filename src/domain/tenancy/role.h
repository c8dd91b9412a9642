// Roles: named sets of permissions. Those that are built in are here; tenants define others.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "domain/tenancy/permission.h"
#include "domain/tenancy/scope.h"

namespace hostler {

enum class BuiltInRole {
    operator_,
    support,
    auditor,
    provider,
    tenant_admin,
    billing,
    project_admin,
    member,
    viewer,
};

struct BuiltInRoleRow {
    BuiltInRole role;
    std::string_view name;  // "tenant-admin"
    std::string_view help;
};

inline constexpr auto built_in_roles = std::to_array<BuiltInRoleRow>({
    {BuiltInRole::operator_, "operator", "Everything in the whole cloud."},
    {BuiltInRole::support, "support", "Reads the whole cloud without secrets and logs."},
    {BuiltInRole::auditor, "auditor", "Reads the audit, people and their roles."},
    {BuiltInRole::provider, "provider", "Adds and looks after the own hosts."},
    {BuiltInRole::tenant_admin, "tenant-admin", "Everything in a tenant."},
    {BuiltInRole::billing, "billing", "Reads usage, prices and reports of a tenant."},
    {BuiltInRole::project_admin, "project-admin", "Everything in a project, and who has which role there."},
    {BuiltInRole::member, "member", "Uses a project: instances, volumes, secrets."},
    {BuiltInRole::viewer, "viewer", "Reads a project without secrets."},
});

Permissions permissions_of(BuiltInRole role);
const BuiltInRoleRow* built_in_role(std::string_view name);  // nullptr: none of that name.

// Whether a role with these permissions may be granted at a scope: each permission counts there or below, or
// everywhere.
bool fits(const Permissions& role, const Scope& scope);

// The permissions that count within a tenant; within a project.
Permissions tenant_permissions();
Permissions project_permissions();
// Of an API key that is bound to a tenant: everything of the tenant but people, roles and other keys.
Permissions tenant_key_permissions();

}  // namespace hostler

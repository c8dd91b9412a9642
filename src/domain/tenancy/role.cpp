#include "domain/tenancy/role.h"

#include "core/result.h"

namespace hostler {

namespace {

template <class Wanted>
Permissions those(Wanted wanted) {
    Permissions set;
    for (const PermissionRow& row : permissions)
        if (wanted(row)) set.add(row.permission);
    return set;
}

bool is_for_all(PermissionLevel level) {
    return level == PermissionLevel::anyone || level == PermissionLevel::catalogue;
}

Permissions catalogue() {
    return those([](const PermissionRow& row) { return is_for_all(row.level); });
}

// What shows the insides of instances.
const Permissions& confidential() {
    static const Permissions set{Permission::secret_read, Permission::instance_logs};
    return set;
}

Permissions reads_of_people() {
    return {Permission::tenant_read,  Permission::project_read, Permission::role_read,
            Permission::grant_read,   Permission::user_read,    Permission::group_read,
            Permission::account_read, Permission::key_read,     Permission::quota_read};
}

// What changes people, their roles and their keys.
Permissions writes_of_people() {
    return {Permission::grant_write,   Permission::role_write,   Permission::user_write,
            Permission::group_write,   Permission::tenant_write, Permission::account_write,
            Permission::project_write, Permission::quota_write};
}

}  // namespace

Permissions tenant_permissions() {
    return those([](const PermissionRow& row) {
        return is_for_all(row.level) || row.level == PermissionLevel::project ||
               row.level == PermissionLevel::tenant;
    });
}

Permissions project_permissions() {
    return those([](const PermissionRow& row) {
        return is_for_all(row.level) || row.level == PermissionLevel::project;
    });
}

Permissions tenant_key_permissions() { return tenant_permissions().without(writes_of_people()); }

Permissions permissions_of(BuiltInRole role) {
    switch (role) {
        case BuiltInRole::operator_: return those([](const PermissionRow&) { return true; });
        case BuiltInRole::support:
            return those([](const PermissionRow& row) { return only_reads(row.permission); })
                .without(confidential());
        case BuiltInRole::auditor:
            return catalogue() | reads_of_people() |
                   Permissions{Permission::audit_read, Permission::event_read};
        case BuiltInRole::provider:
            return catalogue() |
                   Permissions{Permission::host_read, Permission::host_write, Permission::gpu_read};
        case BuiltInRole::tenant_admin: return tenant_permissions();
        case BuiltInRole::billing:
            return catalogue() | Permissions{Permission::gpu_usage, Permission::report_write,
                                             Permission::tenant_read, Permission::project_read,
                                             Permission::quota_read};
        case BuiltInRole::project_admin: return project_permissions();
        case BuiltInRole::member: return project_permissions().without({Permission::grant_write});
        case BuiltInRole::viewer:
            return catalogue() | those([](const PermissionRow& row) {
                                     return row.level == PermissionLevel::project &&
                                            only_reads(row.permission);
                                 }).without({Permission::secret_read});
    }
    broken("a role outside its enum", __FILE__, __LINE__);
}

const BuiltInRoleRow* built_in_role(std::string_view name) {
    for (const BuiltInRoleRow& row : built_in_roles)
        if (row.name == name) return &row;
    return nullptr;
}

bool fits(const Permissions& role, const Scope& scope) {
    for (const PermissionRow& row : permissions) {
        if (!role.has(row.permission) || is_for_all(row.level)) continue;
        switch (scope.kind) {
            case ScopeKind::cloud: break;
            case ScopeKind::tenant:
                if (row.level != PermissionLevel::tenant && row.level != PermissionLevel::project)
                    return false;
                break;
            case ScopeKind::project:
                if (row.level != PermissionLevel::project) return false;
                break;
            case ScopeKind::provider:
                if (row.level != PermissionLevel::provider) return false;
                break;
        }
    }
    return true;
}

}  // namespace hostler

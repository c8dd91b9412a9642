// Who has which role where; roles that tenants define; groups of users.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "domain/object.h"
#include "domain/tenancy/scope.h"

namespace hostler {

struct Grant {
    std::string id;       // "gr-…"
    std::string subject;  // "user/u-…", "group/g-…", "account/sa-…"
    std::string role;     // By name: built in, or of the tenant.
    ScopeKind at = ScopeKind::tenant;
    std::string tenant;      // Of a tenant or project.
    std::string project;     // Of a project.
    std::string provider;    // Of a provider.
    std::int64_t until = 0;  // 0: until it is taken.
    std::string made_by;     // "user/u-…", "key/k-…"
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Grant, (),
                      (id, subject, role, at, tenant, project, provider, until, made_by, created_at))

inline Scope scope_of(const Grant& grant) {
    switch (grant.at) {
        case ScopeKind::cloud: return Scope::cloud();
        case ScopeKind::tenant: return Scope::of_tenant(grant.tenant);
        case ScopeKind::project: return Scope::of_project(grant.tenant, grant.project);
        case ScopeKind::provider: return Scope::of_provider(grant.provider);
    }
    return Scope::of_provider(grant.provider);
}

// A role that a tenant defined.
struct CustomRole {
    std::string id;  // "tenant/name"
    std::string name;
    std::string tenant;
    std::string description;
    std::vector<std::string> permissions;  // By name. One that a newer release made counts for nothing here.
    std::int64_t created_at = 0;
    std::uint64_t narrowed = 0;  // How often it lost a permission.
    Meta meta;

    static std::string id_of(const std::string& tenant, const std::string& name) {
        return tenant + "/" + name;
    }
};
BOOST_DESCRIBE_STRUCT(CustomRole, (), (id, name, tenant, description, permissions, created_at, narrowed))

struct Group {
    std::string id;                    // "g-…"
    std::string name;                  // Unique in its tenant.
    std::string tenant;                // Empty: a group of the operator.
    std::vector<std::string> members;  // Ids of users.
    std::int64_t created_at = 0;
    std::int64_t disabled_at = 0;  // 0: enabled. Roles of a disabled group count for nothing.
    std::uint64_t narrowed = 0;    // How often it lost a member or was disabled.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Group, (), (id, name, tenant, members, created_at, disabled_at, narrowed))

inline constexpr std::size_t grants_subject_max = 100;
inline constexpr std::size_t grants_tenant_max = 50'000;  // Also of the cloud.
inline constexpr std::size_t roles_tenant_max = 100;
inline constexpr std::size_t groups_tenant_max = 1'000;
inline constexpr std::size_t members_group_max = 10'000;
inline constexpr std::size_t groups_user_max = 50;

}  // namespace hostler

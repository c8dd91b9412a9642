// Roles, who has them where, and groups of users.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Role {
    std::string name;
    std::string tenant_id;
    std::string description;
    std::vector<std::string> permissions;
    bool built_in = false;
    std::optional<WallTime> created_at{};
};
BOOST_DESCRIBE_STRUCT(Role, (), (name, tenant_id, description, permissions, built_in, created_at))
template <>
inline constexpr auto fields<Role> = std::to_array<Field>({
    {.member = "name", .help = "Name of the role.", .example = "ops"},
    {.member = "tenant_id", .help = "Tenant that defined it; empty: it is built in, or the operator's.", .example = "acme"},
    {.member = "description", .help = "Purpose of the role.", .example = "Watches and restarts."},
    {.member = "permissions", .help = "Permissions by name.", .example = "[\"instance.read\"]"},
    {.member = "built_in", .help = "Every cloud has it; it cannot be changed."},
    {.member = "created_at", .help = "Creation time."},
});

struct CreateRole {
    std::string name;
    std::vector<std::string> permissions;
    std::string description;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateRole, (), (name, permissions, description, tenant_id))
template <>
inline constexpr auto fields<CreateRole> = std::to_array<Field>({
    {.member = "name", .help = "Name; unique in the tenant and not that of a built-in role.", .example = "ops",
     .form = &forms::label},
    {.member = "permissions", .help = "Permissions by name; you must have each of them.", .example = "[\"instance.read\"]",
     .min = 1, .max = 100, .form = &forms::one_line},
    {.member = "description", .help = "Purpose of the role.", .example = "Watches and restarts.", .max = 256,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "tenant_id", .help = "Tenant that defines it. Default: the caller's; an operator's role is for the cloud.",
     .example = "acme", .form = &forms::id},
});

struct ListRoles {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListRoles, (), (tenant_id))
template <>
inline constexpr auto fields<ListRoles> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only the built-in ones and this tenant's.", .example = "acme", .form = &forms::id},
});

struct NameRole {
    std::string role;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameRole, (), (role, tenant_id))
template <>
inline constexpr auto fields<NameRole> = std::to_array<Field>({
    {.member = "role", .help = "Name of the role.", .example = "ops"},
    {.member = "tenant_id", .help = "Tenant that defined it. Default: the caller's.", .example = "acme", .form = &forms::id},
});

// PATCH /v1/roles/{role}. What is not given stays.
struct UpdateRole {
    std::string role;
    std::optional<std::string> tenant_id{};
    std::optional<std::vector<std::string>> permissions{};
    std::optional<std::string> description{};
};
BOOST_DESCRIBE_STRUCT(UpdateRole, (), (role, tenant_id, permissions, description))
template <>
inline constexpr auto fields<UpdateRole> = std::to_array<Field>({
    {.member = "role", .help = "Name of the role.", .example = "ops"},
    {.member = "tenant_id", .help = "Tenant that defined it. Default: the caller's.", .example = "acme", .form = &forms::id},
    {.member = "permissions", .help = "Permissions by name, in place of those it has.", .example = "[\"instance.read\"]",
     .min = 1, .max = 100, .form = &forms::one_line},
    {.member = "description", .help = "Purpose of the role.", .example = "Watches and restarts.", .max = 256,
     .form = &forms::one_line},
});

enum class GrantScope { cloud, tenant, project, provider };
BOOST_DESCRIBE_ENUM(GrantScope, cloud, tenant, project, provider)

struct Grant {
    std::string id;
    std::string subject;
    std::string name;
    std::string role;
    GrantScope scope = GrantScope::tenant;
    std::string tenant_id;
    std::string project;
    std::string provider;
    std::optional<WallTime> expires_at{};
    std::string made_by;
    WallTime created_at;
};
BOOST_DESCRIBE_STRUCT(Grant, (),
                      (id, subject, name, role, scope, tenant_id, project, provider, expires_at, made_by, created_at))
template <>
inline constexpr auto fields<Grant> = std::to_array<Field>({
    {.member = "id", .help = "Id of the grant.", .example = "gr-3hq8wz"},
    {.member = "subject", .help = "User, group or service account that has the role.", .example = "user/u-3hq8wz"},
    {.member = "name", .help = "Login of the user; name of the group or service account.", .example = "ann@example.com"},
    {.member = "role", .help = "Name of the role.", .example = "member"},
    {.member = "scope", .help = "Where the role counts; a wider scope contains the narrower ones."},
    {.member = "tenant_id", .help = "Tenant; empty: the cloud, or a provider.", .example = "acme"},
    {.member = "project", .help = "Project; empty: the whole tenant.", .example = "default"},
    {.member = "provider", .help = "Provider whose hosts these are.", .example = "farm"},
    {.member = "expires_at", .help = "When the grant ends; absent: when it is deleted."},
    {.member = "made_by", .help = "Who gave it.", .example = "user/u-9r4t1b"},
    {.member = "created_at", .help = "Creation time."},
});

struct CreateGrant {
    std::string subject;
    std::string role;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> provider{};
    bool cloud = false;
    std::optional<int> ttl_seconds{};
};
BOOST_DESCRIBE_STRUCT(CreateGrant, (), (subject, role, tenant_id, project, provider, cloud, ttl_seconds))
template <>
inline constexpr auto fields<CreateGrant> = std::to_array<Field>({
    {.member = "subject", .help = "user/LOGIN, group/NAME or account/NAME, or with the id in place of the name.",
     .example = "user/ann@example.com", .min = 1, .max = 256, .form = &forms::one_line},
    {.member = "role", .help = "Name of the role.", .example = "member", .min = 1, .max = 64, .form = &forms::one_line},
    {.member = "tenant_id", .help = "Tenant in which the role counts. Default: the caller's.", .example = "acme",
     .form = &forms::id},
    {.member = "project", .help = "Project in which the role counts. Default: the whole tenant.", .example = "default",
     .form = &forms::label},
    {.member = "provider", .help = "Provider for whose hosts the role counts, in place of a tenant.", .example = "farm",
     .form = &forms::id},
    {.member = "cloud", .help = "The role counts in the whole cloud.", .absent = Absent::fills},
    {.member = "ttl_seconds", .help = "Lifetime. Default: until it is deleted.", .example = "86400", .min = 60,
     .max = 10 * 366 * 86400, .unit = Unit::seconds},
});
// One scope alone.
template <>
struct Rules<CreateGrant> {
    static void check(const CreateGrant& request, Wrong& wrong);
};

struct ListGrants {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> subject{};
    std::optional<std::string> role{};
};
BOOST_DESCRIBE_STRUCT(ListGrants, (), (tenant_id, subject, role))
template <>
inline constexpr auto fields<ListGrants> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those in this tenant.", .example = "acme", .form = &forms::id},
    {.member = "subject", .help = "Only those of this subject.", .example = "user/u-3hq8wz", .max = 256,
     .form = &forms::one_line},
    {.member = "role", .help = "Only those of this role.", .example = "member", .max = 64, .form = &forms::one_line},
});

struct NameGrant {
    std::string grant;
};
BOOST_DESCRIBE_STRUCT(NameGrant, (), (grant))
template <>
inline constexpr auto fields<NameGrant> = std::to_array<Field>({
    {.member = "grant", .help = "The grant's id.", .example = "gr-3hq8wz"},
});

enum class GroupState { enabled, disabled };
BOOST_DESCRIBE_ENUM(GroupState, enabled, disabled)

struct Group {
    std::string id;
    std::string name;
    std::string tenant_id;
    GroupState state = GroupState::enabled;
    std::vector<std::string> members;
    WallTime created_at;
};
BOOST_DESCRIBE_STRUCT(Group, (), (id, name, tenant_id, state, members, created_at))
template <>
inline constexpr auto fields<Group> = std::to_array<Field>({
    {.member = "id", .help = "Id of the group.", .example = "g-3hq8wz"},
    {.member = "name", .help = "Name of the group.", .example = "research"},
    {.member = "tenant_id", .help = "Tenant; empty: a group of the operator.", .example = "acme"},
    {.member = "state", .help = "`enabled`, or `disabled`: its roles count for nothing."},
    {.member = "members", .help = "Logins of its users.", .example = "[\"ann@example.com\"]"},
    {.member = "created_at", .help = "Creation time."},
});

struct CreateGroup {
    std::string name;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateGroup, (), (name, tenant_id))
template <>
inline constexpr auto fields<CreateGroup> = std::to_array<Field>({
    {.member = "name", .help = "Name; unique in the tenant.", .example = "research", .form = &forms::label},
    {.member = "tenant_id", .help = "Tenant. Default: the caller's; an operator makes a group of the operator.",
     .example = "acme", .form = &forms::id},
});

struct ListGroups {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListGroups, (), (tenant_id))
template <>
inline constexpr auto fields<ListGroups> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
});

struct NameGroup {
    std::string group;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameGroup, (), (group, tenant_id))
template <>
inline constexpr auto fields<NameGroup> = std::to_array<Field>({
    {.member = "group", .help = "The group's id or name.", .example = "research"},
    {.member = "tenant_id", .help = "Tenant of the group. Default: the caller's.", .example = "acme", .form = &forms::id},
});

struct GroupMember {
    std::string group;
    std::string user;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(GroupMember, (), (group, user, tenant_id))
template <>
inline constexpr auto fields<GroupMember> = std::to_array<Field>({
    {.member = "group", .help = "The group's id or name.", .example = "research"},
    {.member = "user", .help = "The user's id or login.", .example = "ann@example.com"},
    {.member = "tenant_id", .help = "Tenant of the group. Default: the caller's.", .example = "acme", .form = &forms::id},
});

struct PermissionInfo {
    std::string name;
    std::string level;
    std::string help;
};
BOOST_DESCRIBE_STRUCT(PermissionInfo, (), (name, level, help))
template <>
inline constexpr auto fields<PermissionInfo> = std::to_array<Field>({
    {.member = "name", .help = "Name of the permission.", .example = "instance.read"},
    {.member = "level", .help = "Where a grant of it counts: project, tenant, provider, cloud, or for all.",
     .example = "project"},
    {.member = "help", .help = "What it allows.", .example = "See instances and why they are as they are."},
});

}  // namespace hostler::api

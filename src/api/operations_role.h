// Roles, who has them where, and groups of users.
#pragma once

#include "api/operation.h"
#include "api/types_role.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<PermissionInfo>> list_permissions{{
    .name = "listPermissions", .path = "/v1/permissions", .permission = Permission::self_read,
    .help = "List the permissions that roles are made of.", .list = true, .pages = Pages::own, .query = true, .noun = "permission", .verb = "list",
    .columns = "name level help"}};

inline constexpr Typed<CreateRole, Role> create_role{{
    .name = "createRole", .method = Method::post, .path = "/v1/roles", .permission = Permission::role_write,
    .help = "Define a role as a set of permissions.", .status = 201, .noun = "role", .verb = "create",
    .argument = "name", .example = "role create ops --permission instance.read --permission instance.write"}};
inline constexpr Typed<ListRoles, List<Role>> list_roles{{
    .name = "listRoles", .path = "/v1/roles", .permission = Permission::role_read,
    .help = "List roles: the built-in ones first.", .list = true, .noun = "role", .verb = "list",
    .columns = "name tenantID builtIn description permissions"}};
inline constexpr Typed<NameRole, Role> get_role{{
    .name = "getRole", .path = "/v1/roles/{role}", .permission = Permission::role_read, .help = "Show a role.",
    .noun = "role", .verb = "get"}};
inline constexpr Typed<UpdateRole, Role> update_role{{
    .name = "updateRole", .method = Method::patch, .path = "/v1/roles/{role}", .permission = Permission::role_write,
    .help = "Change the permissions of a role; it counts for all who have it at once.", .noun = "role",
    .verb = "edit", .example = "role edit ops --permission instance.read"}};
inline constexpr Typed<NameRole, Empty> delete_role{{
    .name = "deleteRole", .method = Method::delete_, .path = "/v1/roles/{role}",
    .permission = Permission::role_write, .help = "Delete a role that is granted to no subject.", .noun = "role",
    .verb = "delete", .confirm = "The role is deleted."}};

inline constexpr Typed<CreateGrant, Grant> create_grant{{
    .name = "createGrant", .method = Method::post, .path = "/v1/grants", .permission = Permission::grant_write,
    .help = "Give a role to a user, a group or a service account.", .status = 201, .noun = "grant",
    .verb = "create", .argument = "subject",
    .example = "grant create user/ann@example.com --role member --tenant acme --project research"}};
inline constexpr Typed<ListGrants, List<Grant>> list_grants{{
    .name = "listGrants", .path = "/v1/grants", .permission = Permission::grant_read,
    .help = "List who has which role where.", .list = true, .noun = "grant", .verb = "list",
    .columns = "name role scope tenantID project provider expiresAt subject id madeBy createdAt"}};
inline constexpr Typed<NameGrant, Empty> delete_grant{{
    .name = "deleteGrant", .method = Method::delete_, .path = "/v1/grants/{grant}",
    .permission = Permission::grant_write, .help = "Take a role away, at once.", .noun = "grant", .verb = "delete"}};

inline constexpr Typed<CreateGroup, Group> create_group{{
    .name = "createGroup", .method = Method::post, .path = "/v1/groups", .permission = Permission::group_write,
    .help = "Create a group of users.", .status = 201, .noun = "group", .verb = "create", .argument = "name",
    .example = "group create research --tenant acme"}};
inline constexpr Typed<ListGroups, List<Group>> list_groups{{
    .name = "listGroups", .path = "/v1/groups", .permission = Permission::group_read, .help = "List groups.",
    .list = true, .noun = "group", .verb = "list", .columns = "name state tenantID members createdAt id"}};
inline constexpr Typed<NameGroup, Group> get_group{{
    .name = "getGroup", .path = "/v1/groups/{group}", .permission = Permission::group_read, .help = "Show a group.",
    .noun = "group", .verb = "get"}};
inline constexpr Typed<GroupMember, Group> add_group_member{{
    .name = "addGroupMember", .method = Method::post, .path = "/v1/groups/{group}/members",
    .permission = Permission::group_write, .help = "Add a user to a group.", .noun = "group", .verb = "add",
    .argument = "user", .example = "group add research ann@example.com"}};
inline constexpr Typed<GroupMember, Group> remove_group_member{{
    .name = "removeGroupMember", .method = Method::delete_, .path = "/v1/groups/{group}/members/{user}",
    .permission = Permission::group_write, .help = "Remove a user from a group.", .noun = "group", .verb = "remove",
    .example = "group remove research ann@example.com"}};
inline constexpr Typed<NameGroup, Group> disable_group{{
    .name = "disableGroup", .method = Method::post, .path = "/v1/groups/{group}/disable",
    .permission = Permission::group_write, .help = "Disable a group: its roles count for nothing.", .noun = "group",
    .verb = "disable"}};
inline constexpr Typed<NameGroup, Group> enable_group{{
    .name = "enableGroup", .method = Method::post, .path = "/v1/groups/{group}/enable",
    .permission = Permission::group_write, .help = "Enable a disabled group.", .noun = "group", .verb = "enable"}};
inline constexpr Typed<NameGroup, Empty> delete_group{{
    .name = "deleteGroup", .method = Method::delete_, .path = "/v1/groups/{group}",
    .permission = Permission::group_write, .help = "Delete a group, with all its roles.", .noun = "group",
    .verb = "delete", .confirm = "The group and all its roles are removed."}};

}  // namespace hostler::api::ops

// Tenants and their projects.
#pragma once

#include "api/operation.h"
#include "api/types_tenant.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateTenant, Tenant> create_tenant{{
    .name = "createTenant", .method = Method::post, .path = "/v1/tenants", .permission = Permission::tenant_create,
    .help = "Create a tenant with the project `default`.", .status = 201,
    .noun = "tenant", .verb = "create", .argument = "name",
    .example = "tenant create acme --display-name 'Acme Ltd'"}};
inline constexpr Typed<ListTenants, List<Tenant>> list_tenants{{
    .name = "listTenants", .path = "/v1/tenants", .permission = Permission::tenant_read, .help = "List tenants.",
    .list = true, .noun = "tenant", .verb = "list",
    .columns = "name displayName disabled needsTotp createdAt disabledAt version"}};
inline constexpr Typed<NameTenant, Tenant> get_tenant{{
    .name = "getTenant", .path = "/v1/tenants/{tenant}", .permission = Permission::tenant_read, .help = "Show a tenant.",
    .noun = "tenant", .verb = "get"}};
inline constexpr Typed<UpdateTenant, Tenant> update_tenant{{
    .name = "updateTenant", .method = Method::patch, .path = "/v1/tenants/{tenant}", .permission = Permission::tenant_write,
    .help = "Change a tenant.", .noun = "tenant", .verb = "edit",
    .example = "tenant edit acme --display-name 'Acme Ltd' --needs-totp"}};
inline constexpr Typed<NameTenant, Tenant> disable_tenant{{
    .name = "disableTenant", .method = Method::post, .path = "/v1/tenants/{tenant}/disable",
    .permission = Permission::tenant_create,
    .help = "Disable a tenant: nothing is created or started in it, and its credentials end. Running instances keep running.",
    .noun = "tenant", .verb = "disable"}};
inline constexpr Typed<NameTenant, Tenant> enable_tenant{{
    .name = "enableTenant", .method = Method::post, .path = "/v1/tenants/{tenant}/enable",
    .permission = Permission::tenant_create, .help = "Enable a disabled tenant.",
    .noun = "tenant", .verb = "enable"}};
inline constexpr Typed<DeleteTenant, Empty> delete_tenant{{
    .name = "deleteTenant", .method = Method::delete_, .path = "/v1/tenants/{tenant}", .permission = Permission::tenant_create,
    .help = "Delete a tenant without live objects, with its projects and API keys.",
    .noun = "tenant", .verb = "delete", .confirm = "Its projects, networks and API keys are deleted with it."}};

inline constexpr Typed<CreateProject, Project> create_project{{
    .name = "createProject", .method = Method::post, .path = "/v1/projects", .permission = Permission::project_write,
    .help = "Create a project with a separate network.", .status = 201, .noun = "project", .verb = "create",
    .argument = "name", .example = "project create lab --display-name Laboratory"}};
inline constexpr Typed<ListProjects, List<Project>> list_projects{{
    .name = "listProjects", .path = "/v1/projects", .permission = Permission::project_read, .help = "List projects.",
    .list = true, .noun = "project", .verb = "list",
    .columns = "name tenantID displayName disabled createdAt disabledAt version"}};
inline constexpr Typed<NameProject, Project> get_project{{
    .name = "getProject", .path = "/v1/projects/{project}", .permission = Permission::project_read, .help = "Show a project.",
    .noun = "project", .verb = "get"}};
inline constexpr Typed<UpdateProject, Project> update_project{{
    .name = "updateProject", .method = Method::patch, .path = "/v1/projects/{project}", .permission = Permission::project_write,
    .help = "Change a project.", .noun = "project", .verb = "edit",
    .example = "project edit lab --display-name Laboratory"}};
inline constexpr Typed<NameProject, Project> disable_project{{
    .name = "disableProject", .method = Method::post, .path = "/v1/projects/{project}/disable",
    .permission = Permission::project_write,
    .help = "Disable a project: nothing is created or started in it. Running instances keep running.",
    .noun = "project", .verb = "disable"}};
inline constexpr Typed<NameProject, Project> enable_project{{
    .name = "enableProject", .method = Method::post, .path = "/v1/projects/{project}/enable",
    .permission = Permission::project_write, .help = "Enable a disabled project.", .noun = "project", .verb = "enable"}};
inline constexpr Typed<DeleteProject, Empty> delete_project{{
    .name = "deleteProject", .method = Method::delete_, .path = "/v1/projects/{project}",
    .permission = Permission::project_write, .help = "Delete a project without live objects.", .noun = "project",
    .verb = "delete", .confirm = "Its network is deleted with it."}};

}  // namespace hostler::api::ops

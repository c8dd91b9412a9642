// Tenants and projects as objects: creating, changing, disabling and deleting them.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateProject;
struct CreateTenant;
struct DeleteProject;
struct DeleteTenant;
struct Project;
struct Tenant;
struct UpdateProject;
struct UpdateTenant;
}  // namespace hostler::api

namespace hostler::master {

enum class Wanted { enabled, disabled };

// Errors: conflict (tenant_exists), exhausted (quota_exceeded).
Result<const Tenant*> create_tenant(Desk& desk, const api::CreateTenant& request);
// Errors: conflict (version_differs).
Result<> update_tenant(Desk& desk, const std::string& tenant, const api::UpdateTenant& request);
void set_tenant(Desk& desk, const std::string& tenant, Wanted wanted);
// Its projects, networks and API keys go with it. Errors: conflict (tenant_not_empty, which names live
// objects; version_differs).
Result<> delete_tenant(Desk& desk, const std::string& tenant, const api::DeleteTenant& request);

// Errors: conflict (project_exists, tenant_disabled), not_found (tenant_not_found), exhausted
// (quota_exceeded: projects_tenant_max).
Result<const Project*> create_project(Desk& desk, const api::CreateProject& request,
                                      const std::string& tenant);
// `id` as Project::id_of() makes it. Errors: conflict (version_differs).
Result<> update_project(Desk& desk, const std::string& id, const api::UpdateProject& request);
void set_project(Desk& desk, const std::string& id, Wanted wanted);
// Its network goes with it. Errors: conflict (project_not_empty, which names live objects; default_project;
// version_differs).
Result<> delete_project(Desk& desk, const std::string& id, const api::DeleteProject& request);

api::Tenant view(const Tenant& tenant);
api::Project view(const Project& project);

}  // namespace hostler::master

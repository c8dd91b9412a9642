// Tenants and projects: whether something may be created, started or entered there.
#pragma once

#include <fmt/format.h>

#include "domain/tenancy/scope.h"
#include "domain/tenancy/tenant.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr std::size_t tenants_max = 100'000, projects_tenant_max = 256;

// Whether a tenant may have something new. With the setting `open` a name that is not known is as good as
// one that is; ensure_tenant() makes it. Errors: not_found (tenant_not_found), conflict (tenant_disabled),
// exhausted (quota_exceeded: tenants_max).
Result<> check_tenant(const Desk& desk, const std::string& tenant);
// The same for something new in a project, and for a start. Errors: those, not_found (project_not_found),
// conflict (project_disabled).
Result<> check_project(const Desk& desk, const std::string& tenant, const std::string& project);

// Makes those that are not there: when all else is decided, as a refusal must change nothing.
void ensure_tenant(Desk& desk, const std::string& tenant, const std::string& display_name = {});
void ensure_project(Desk& desk, const std::string& tenant, const std::string& project,
                    const std::string& display_name_of_tenant = {});
// The same for all that the store has objects of: an older release kept no tenants.
void ensure_tenants_in_use(Desk& desk);

// Of the tenant or the project, unless that is empty. One whose row cannot be read counts as disabled.
bool is_disabled(const Desk& desk, const std::string& tenant, const std::string& project = {});
// Whether a credential of this tenant, or of this project of it, is worth something.
bool may_enter(const Desk& desk, const std::string& tenant, const std::string& project = {});

const Project* find_project(const Desk& desk, const std::string& tenant, const std::string& project);
// not_found, with the name that was probably meant.
Error no_such_tenant(const Desk& desk, const std::string& tenant);
Error no_such_project(const Desk& desk, const std::string& tenant, const std::string& project);

// The project that a request names.
template <class Request>
std::string project_meant(const Request& request) {
    return request.project.value_or(std::string{default_project});
}

// Why an instance in `project` cannot use this row; empty: it can.
template <class Row>
std::string not_in_project(const Row& row, const std::string& project) {
    if (row.project == project) return {};
    return fmt::format("{} {} is in project {}; an instance in project {} cannot use it", Kind<Row>::name,
                       row.name, row.project, project);
}

}  // namespace hostler::master

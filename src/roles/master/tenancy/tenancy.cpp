#include "roles/master/tenancy/tenancy.h"

#include <set>

#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/tenancy/contents.h"

namespace hostler::master {

namespace {

template <class Row>
bool is_unreadable(const Desk& desk, const std::string& id) {
    return desk.estate.unreadable().contains({std::string{Kind<Row>::name}, id});
}

Result<> tenant_enabled(const Desk& desk, const std::string& tenant) {
    const Tenant* known = desk.estate.tenants.find(tenant);
    if (is_unreadable<Tenant>(desk, tenant) || (known && known->disabled_at != 0))
        return refuse(fmt::format("tenant {} is disabled", tenant), "tenant_disabled",
                      fmt::format("An operator can enable it: `hostler tenant enable {}`.", tenant));
    return {};
}

}  // namespace

const Project* find_project(const Desk& desk, const std::string& tenant, const std::string& project) {
    return desk.estate.projects.find(Project::id_of(tenant, project));
}

Error no_such_tenant(const Desk& desk, const std::string& tenant) {
    Error error{Code::not_found, no_such_in(desk.estate.tenants, "tenant", tenant), "tenant_not_found"};
    error.help = fmt::format("Create it: `hostler tenant create {}`.", tenant);
    return error;
}

Error no_such_project(const Desk& desk, const std::string& tenant, const std::string& project) {
    std::vector<std::string_view> known;
    for (const Project* row : desk.estate.projects.by().tenant.of(tenant, near_names_max))
        known.push_back(row->name);
    Error error{Code::not_found, fmt::format("tenant {}: {}", tenant, no_such("project", project, known)),
                "project_not_found"};
    error.help = fmt::format("Create it: `hostler project create {} --tenant {}`.", project, tenant);
    return error;
}

Result<> check_tenant(const Desk& desk, const std::string& tenant) {
    TRY(tenant_enabled(desk, tenant));
    if (desk.estate.tenants.find(tenant)) return {};
    if (desk.settings.tenants == TenantsSetting::declared)
        return std::unexpected(no_such_tenant(desk, tenant));
    if (desk.estate.tenants.all().size() >= tenants_max)
        return fail(Code::exhausted, fmt::format("there are {} tenants, which is the limit", tenants_max),
                    "quota_exceeded");
    return {};
}

Result<> check_project(const Desk& desk, const std::string& tenant, const std::string& project) {
    TRY(check_tenant(desk, tenant));
    const std::string id = Project::id_of(tenant, project);
    const Project* known = desk.estate.projects.find(id);
    if (is_unreadable<Project>(desk, id) || (known && known->disabled_at != 0))
        return refuse(fmt::format("project {} of tenant {} is disabled", project, tenant), "project_disabled",
                      fmt::format("Enable it: `hostler project enable {} --tenant {}`.", project, tenant));
    if (!known && project != default_project) return std::unexpected(no_such_project(desk, tenant, project));
    return {};
}

void ensure_tenant(Desk& desk, const std::string& tenant, const std::string& display_name) {
    ensure_project(desk, tenant, std::string{default_project}, display_name);
}

void ensure_project(Desk& desk, const std::string& tenant, const std::string& project,
                    const std::string& display_name_of_tenant) {
    if (!desk.estate.tenants.find(tenant) && !is_unreadable<Tenant>(desk, tenant)) {
        desk.estate.tenants.add(
            {.id = tenant, .display_name = display_name_of_tenant, .created_at = desk.estate.micros()});
        desk.estate.event("tenant", tenant, tenant, "created", fmt::format("Tenant {} was created.", tenant));
    }
    for (const std::string& name : std::set{std::string{default_project}, project}) {
        const std::string id = Project::id_of(tenant, name);
        if (desk.estate.projects.find(id) || is_unreadable<Project>(desk, id)) continue;
        desk.estate.projects.add(
            {.id = id, .tenant = tenant, .name = name, .created_at = desk.estate.micros()});
        desk.estate.event("project", id, tenant, "created", fmt::format("Project {} was created.", name));
    }
}

void ensure_tenants_in_use(Desk& desk) {
    std::set<OfTenant> in_use;
    each_kind_in_projects(desk.estate, [&](const auto& table, auto is_live) {
        for (const auto& [id, row] : table.all())
            if (is_live(row)) in_use.emplace(row.tenant, row.project);
    });
    each_kind_of_tenants(desk.estate, [&](const auto& table, auto is_live) {
        for (const auto& [id, row] : table.all())
            if (is_live(row)) in_use.emplace(row.tenant, default_project);
    });
    for (const auto& [tenant, project] : in_use) ensure_project(desk, tenant, project);
}

bool is_disabled(const Desk& desk, const std::string& tenant, const std::string& project) {
    if (!tenant_enabled(desk, tenant)) return true;
    if (project.empty()) return false;
    const std::string id = Project::id_of(tenant, project);
    const Project* known = desk.estate.projects.find(id);
    return is_unreadable<Project>(desk, id) || (known && known->disabled_at != 0);
}

bool may_enter(const Desk& desk, const std::string& tenant, const std::string& project) {
    const bool known =
        tenant.empty() || desk.settings.tenants == TenantsSetting::open || desk.estate.tenants.find(tenant);
    return known && !is_disabled(desk, tenant, project);
}

}  // namespace hostler::master

#include "roles/master/tenant/tenants.h"

#include "api/types_tenant.h"
#include "roles/master/policy/policies.h"
#include "roles/master/role/grants.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/contents.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

constexpr std::size_t named_in_refusal_max = 20;

Result<> check_row_version(std::string_view kind, const std::string& name, std::int64_t version,
                           const std::optional<std::int64_t>& expected) {
    if (!expected || *expected == version) return {};
    return refuse(fmt::format("{} {} has version {}, not {}", kind, name, version, *expected),
                  "version_differs", fmt::format("Look at it again: `hostler {} get {}`.", kind, name));
}

template <class Row>
std::string shown_name(const Row& row) {
    if constexpr (requires { row.caller_id; })
        return row.caller_id;
    else if constexpr (requires { std::string{row.name}; })
        return row.name;
    else
        return Kind<Row>::id(row);
}

// The live objects that are found, of which a refusal names the first.
class LiveObjects {
public:
    template <class Row>
    void add(const Row& row) {
        if (++count_ <= named_in_refusal_max)
            names_ += fmt::format("{}{} {}", names_.empty() ? "" : ", ", Kind<Row>::name, shown_name(row));
    }
    bool none() const { return count_ == 0; }
    std::unexpected<Error> refusal(std::string_view kind, const std::string& name) const {
        const std::size_t more = count_ - std::min(count_, named_in_refusal_max);
        return refuse(fmt::format("{} {} has {} live objects: {}{}", kind, name, count_, names_,
                                  more > 0 ? fmt::format(" and {} more", more) : ""),
                      fmt::format("{}_not_empty", kind), "Delete them first.");
    }

private:
    std::size_t count_ = 0;
    std::string names_;
};

// Its rows of a table, by its index where there is one.
template <class T, class Visit>
void each_row_of(const Table<T>& table, const std::string& tenant, Visit visit) {
    if constexpr (requires { table.by().tenant.of(tenant); }) {
        for (const T* row : table.by().tenant.of(tenant)) visit(*row);
    } else {
        for (const auto& [id, row] : table.all())
            if (row.tenant == tenant) visit(row);
    }
}

// `project` empty: of all projects.
LiveObjects live_in_projects(const Desk& desk, const std::string& tenant, const std::string& project) {
    LiveObjects live;
    each_kind_in_projects(desk.estate, [&](const auto& table, auto is_live) {
        each_row_of(table, tenant, [&](const auto& row) {
            if ((project.empty() || row.project == project) && is_live(row)) live.add(row);
        });
    });
    return live;
}

LiveObjects live_in_tenant(const Desk& desk, const std::string& tenant) {
    LiveObjects live = live_in_projects(desk, tenant, "");
    each_kind_of_tenants(desk.estate, [&]<class T>(const Table<T>& table, auto is_live) {
        if constexpr (!std::is_same_v<T, ApiKey>)  // They end with it.
            each_row_of(table, tenant, [&](const T& row) {
                if (is_live(row)) live.add(row);
            });
    });
    return live;
}

void revoke_keys_of(Desk& desk, const std::string& tenant) {
    std::vector<std::string> ids;
    each_row_of(desk.estate.api_keys, tenant, [&](const ApiKey& key) {
        if (key.revoked_at == 0) ids.push_back(key.id);
    });
    for (const std::string& id : ids) {
        ApiKey& key = desk.estate.api_keys.edit(id);
        key.revoked_at = desk.estate.micros();
        desk.estate.event("api_key", id, tenant, "revoked",
                          fmt::format("API key {} was revoked: its tenant was deleted.", key.name));
    }
}

void erase_project(Desk& desk, const Project& row) {
    const std::string id = row.id, tenant = row.tenant, name = row.name;
    std::vector<std::string> networks;
    for (const Network* network : desk.estate.networks.by().project.of({tenant, name}))
        networks.push_back(network->id);
    for (const std::string& network : networks) desk.estate.networks.erase(network);
    std::vector<std::string> grants;
    for (const Grant* grant : desk.estate.grants.by().tenant.of(tenant))
        if (grant->at == ScopeKind::project && grant->project == name) grants.push_back(grant->id);
    for (const std::string& grant : grants) take_role(desk, grant);
    if (const std::string quota = Quota::id_of(tenant, name, ""); desk.estate.quotas.find(quota))
        desk.estate.quotas.erase(quota);
    desk.estate.event("project", id, tenant, "deleted", fmt::format("Project {} was deleted.", name));
    desk.estate.projects.erase(id);
}

// true: it was otherwise.
template <class Row>
bool set_disabled(Desk& desk, Table<Row>& table, const std::string& id, Wanted wanted) {
    const bool disabled = wanted == Wanted::disabled;
    if ((table.at(id).disabled_at != 0) == disabled) return false;
    Row& row = table.edit(id);
    row.disabled_at = disabled ? desk.estate.micros() : 0;
    ++row.version;
    return true;
}

}  // namespace

Result<const Tenant*> create_tenant(Desk& desk, const api::CreateTenant& request) {
    if (desk.estate.tenants.find(request.name))
        return refuse(fmt::format("tenant {} exists", request.name), "tenant_exists",
                      fmt::format("Change it: `hostler tenant edit {}`.", request.name));
    if (desk.estate.tenants.all().size() >= tenants_max)
        return fail(Code::exhausted, fmt::format("there are {} tenants, which is the limit", tenants_max),
                    "quota_exceeded");
    ensure_tenant(desk, request.name, request.display_name.value_or(""));
    if (request.needs_totp.value_or(false)) desk.estate.tenants.edit(request.name).needs_totp = true;
    if (request.programs.value_or(false)) desk.estate.tenants.edit(request.name).programs = true;
    return &desk.estate.tenants.at(request.name);
}

Result<> update_tenant(Desk& desk, const std::string& tenant, const api::UpdateTenant& request) {
    const Tenant& now = desk.estate.tenants.at(tenant);
    TRY(check_row_version("tenant", tenant, now.version, request.if_version));
    const std::string display_name = request.display_name.value_or(now.display_name);
    const bool needs_totp = request.needs_totp.value_or(now.needs_totp);
    const bool programs = request.programs.value_or(now.programs);
    if (display_name == now.display_name && needs_totp == now.needs_totp && programs == now.programs)
        return {};
    Tenant& changed = desk.estate.tenants.edit(tenant);
    changed.display_name = display_name;
    changed.needs_totp = needs_totp;
    changed.programs = programs;
    ++changed.version;
    desk.estate.event("tenant", tenant, tenant, "changed", fmt::format("Tenant {} was changed.", tenant));
    return {};
}

void set_tenant(Desk& desk, const std::string& tenant, Wanted wanted) {
    if (!set_disabled(desk, desk.estate.tenants, tenant, wanted)) return;
    const std::string_view what = wanted == Wanted::disabled ? "disabled" : "enabled";
    desk.estate.event("tenant", tenant, tenant, std::string{what},
                      fmt::format("Tenant {} was {}.", tenant, what));
}

// Users at home there, groups, service accounts, roles and all that was granted there.
static void forget_people(Desk& desk, const std::string& tenant) {
    Estate& estate = desk.estate;
    const auto ids = [](const auto& rows) {
        std::vector<std::string> found;
        for (const auto* row : rows) found.push_back(row->id);
        return found;
    };
    for (const std::string& id : ids(estate.users.by().tenant.of(tenant))) remove_user(desk, id);
    for (const std::string& id : ids(estate.identity_providers.by().tenant.of(tenant)))
        estate.identity_providers.erase(id);
    for (const std::string& id : ids(estate.groups.by().tenant.of(tenant))) {
        forget_roles(desk, std::string{group_subject} + id);
        estate.groups.erase(id);
    }
    for (const std::string& id : ids(estate.service_accounts.by().tenant.of(tenant))) {
        forget_roles(desk, std::string{account_subject} + id);
        estate.service_accounts.erase(id);
    }
    for (const std::string& id : ids(estate.grants.by().tenant.of(tenant))) take_role(desk, id);
    for (const std::string& id : ids(estate.custom_roles.by().tenant.of(tenant)))
        estate.custom_roles.erase(id);
    for (const std::string& id : ids(estate.invitations.by().tenant.of(tenant))) estate.invitations.erase(id);
}

Result<> delete_tenant(Desk& desk, const std::string& tenant, const api::DeleteTenant& request) {
    const std::string id = tenant;
    TRY(check_row_version("tenant", id, desk.estate.tenants.at(id).version, request.if_version));
    if (const LiveObjects live = live_in_tenant(desk, id); !live.none()) return live.refusal("tenant", id);
    std::vector<std::string> projects;
    for (const Project* project : desk.estate.projects.by().tenant.of(id)) projects.push_back(project->id);
    std::vector<std::string> others;
    for (const User* user : desk.estate.users.by().tenant.of(id))
        for (std::string& other : tenants_of(desk, std::string{user_subject} + user->id))
            if (other != id) others.push_back(std::move(other));
    TRY(keeping_admins(desk, others, [&] { forget_people(desk, id); }));
    for (const std::string& project : projects) erase_project(desk, desk.estate.projects.at(project));
    revoke_keys_of(desk, id);
    std::vector<std::string> quotas;
    for (const Quota* quota : desk.estate.quotas.by().tenant.of(id)) quotas.push_back(quota->id);
    for (const std::string& quota : quotas) desk.estate.quotas.erase(quota);
    drop_policy(desk, Policy::id_of(id));
    desk.estate.event("tenant", id, id, "deleted", fmt::format("Tenant {} was deleted.", id));
    desk.estate.tenants.erase(id);
    return {};
}

Result<const Project*> create_project(Desk& desk, const api::CreateProject& request,
                                      const std::string& tenant) {
    TRY(check_tenant(desk, tenant));
    if (find_project(desk, tenant, request.name))
        return refuse(fmt::format("project {} exists", request.name), "project_exists",
                      fmt::format("Change it: `hostler project edit {}`.", request.name));
    if (desk.estate.projects.by().tenant.count(tenant) >= projects_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("tenant {} has {} projects, which is the limit (projects_tenant_max)", tenant,
                                projects_tenant_max),
                    "quota_exceeded");
    ensure_project(desk, tenant, request.name);
    const std::string id = Project::id_of(tenant, request.name);
    if (request.display_name) desk.estate.projects.edit(id).display_name = *request.display_name;
    return &desk.estate.projects.at(id);
}

Result<> update_project(Desk& desk, const std::string& id, const api::UpdateProject& request) {
    const Project& now = desk.estate.projects.at(id);
    TRY(check_row_version("project", now.name, now.version, request.if_version));
    if (!request.display_name || *request.display_name == now.display_name) return {};
    Project& changed = desk.estate.projects.edit(id);
    changed.display_name = *request.display_name;
    ++changed.version;
    desk.estate.event("project", id, changed.tenant, "changed",
                      fmt::format("Project {} was changed.", changed.name));
    return {};
}

void set_project(Desk& desk, const std::string& id, Wanted wanted) {
    if (!set_disabled(desk, desk.estate.projects, id, wanted)) return;
    const Project& row = desk.estate.projects.at(id);
    const std::string_view what = wanted == Wanted::disabled ? "disabled" : "enabled";
    desk.estate.event("project", id, row.tenant, std::string{what},
                      fmt::format("Project {} was {}.", row.name, what));
}

Result<> delete_project(Desk& desk, const std::string& id, const api::DeleteProject& request) {
    const Project& row = desk.estate.projects.at(id);
    TRY(check_row_version("project", row.name, row.version, request.if_version));
    if (row.name == default_project)
        return refuse(fmt::format("every tenant has the project {}", default_project), "default_project",
                      fmt::format("Delete the tenant: `hostler tenant delete {}`.", row.tenant));
    if (const LiveObjects live = live_in_projects(desk, row.tenant, row.name); !live.none())
        return live.refusal("project", row.name);
    erase_project(desk, row);
    return {};
}

api::Tenant view(const Tenant& tenant) {
    return {.name = tenant.id,
            .display_name = tenant.display_name,
            .disabled = tenant.disabled_at != 0,
            .needs_totp = tenant.needs_totp,
            .programs = tenant.programs,
            .created_at = wall(tenant.created_at),
            .disabled_at = wall_if(tenant.disabled_at),
            .version = tenant.version};
}

api::Project view(const Project& project) {
    return {.name = project.name,
            .tenant_id = project.tenant,
            .display_name = project.display_name,
            .disabled = project.disabled_at != 0,
            .created_at = wall(project.created_at),
            .disabled_at = wall_if(project.disabled_at),
            .version = project.version};
}

}  // namespace hostler::master

// Operations on tenants and projects.
#include "roles/master/http/api.h"

#include "api/operations_tenant.h"
#include "roles/master/http/lookup.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/tenant/tenants.h"

namespace hostler::master {

namespace {

// To a caller who may not see it, a tenant does not exist. Names of others are told to nobody.
Result<const Tenant*> tenant_named(const Desk& desk, const api::Call& call, const std::string& name) {
    const bool all = may(call, sight_of(call.permission), Scope::cloud());
    Error absent =
        all ? no_such_tenant(desk, name)
            : Error{Code::not_found, fmt::format("there is no tenant {}", name), "tenant_not_found"};
    const Tenant* row = desk.estate.tenants.find(name);
    if (!row) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of(*row), std::move(absent)));
    return row;
}

Subject subject_of_tenant(const Desk& desk, const std::string& name) {
    const Tenant* row = desk.estate.tenants.find(name);
    return row ? subject_named(*row, api::encode(view(*row))) : Subject{};
}

Result<std::string> owning_tenant(const api::Call& call, const api::CreateProject& request) {
    std::string tenant = TRY(one_tenant_meant(call, request.tenant_id));
    TRY(check_new(call, Scope::of_tenant(tenant)));
    return tenant;
}

void add_tenant_operations(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_tenant>(
        [](Desk& desk, const api::Call& call, const api::CreateTenant& request) -> Result<api::Tenant> {
            TRY(check_new(call, Scope::cloud()));
            return view(*TRY(create_tenant(desk, request)));
        });
    service.read<ops::list_tenants>([](const Desk& desk, const api::Call& call,
                                       const api::ListTenants& request) -> Result<api::List<api::Tenant>> {
        return rows_of<api::Tenant>(
                   desk.estate.tenants,
                   [&](const Tenant& row) {
                       return may(call, scope_of(row)) &&
                              (!request.disabled || *request.disabled == (row.disabled_at != 0));
                   })
            .page(call, [](const Tenant& row) { return view(row); });
    });
    service.read<ops::get_tenant>(
        [](const Desk& desk, const api::Call& call, const api::NameTenant& request) -> Result<api::Tenant> {
            return view(*TRY(tenant_named(desk, call, request.tenant)));
        });
    service.write<ops::update_tenant>(
        [](Desk& desk, const api::Call& call, const api::UpdateTenant& request) -> Result<api::Tenant> {
            const Tenant& row = *TRY(tenant_named(desk, call, request.tenant));
            if (request.programs && !may(call, Scope::cloud())) {
                Error error{Code::forbidden, "programs are allowed by operators only", "operator_only"};
                error.fields.push_back({"programs", "is for operators"});
                return std::unexpected(std::move(error));
            }
            TRY(update_tenant(desk, row.id, request));
            return view(row);
        });
    service.write<ops::disable_tenant>(
        [](Desk& desk, const api::Call& call, const api::NameTenant& request) -> Result<api::Tenant> {
            const Tenant& row = *TRY(tenant_named(desk, call, request.tenant));
            set_tenant(desk, row.id, Wanted::disabled);
            return view(row);
        });
    service.write<ops::enable_tenant>(
        [](Desk& desk, const api::Call& call, const api::NameTenant& request) -> Result<api::Tenant> {
            const Tenant& row = *TRY(tenant_named(desk, call, request.tenant));
            set_tenant(desk, row.id, Wanted::enabled);
            return view(row);
        });
    service.write<ops::delete_tenant>(
        [](Desk& desk, const api::Call& call, const api::DeleteTenant& request) -> Result<api::Empty> {
            const Tenant& row = *TRY(tenant_named(desk, call, request.tenant));
            TRY(delete_tenant(desk, row.id, request));
            return api::Empty{};
        });
}

void add_project_operations(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_project>(
        [](Desk& desk, const api::Call& call, const api::CreateProject& request) -> Result<api::Project> {
            const std::string tenant = TRY(owning_tenant(call, request));
            return view(*TRY(create_project(desk, request, tenant)));
        });
    service.read<ops::list_projects>([](const Desk& desk, const api::Call& call,
                                        const api::ListProjects& request) -> Result<api::List<api::Project>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        return rows_of<api::Project>(desk.estate.projects,
                                     [&](const Project& row) {
                                         return (tenant.empty() || row.tenant == tenant) &&
                                                may(call, scope_of(row));
                                     })
            .page(call, [](const Project& row) { return view(row); });
    });
    service.read<ops::get_project>(
        [](const Desk& desk, const api::Call& call, const api::NameProject& request) -> Result<api::Project> {
            return view(*TRY(project_named(desk, call, request.project, request.tenant_id)));
        });
    service.write<ops::update_project>(
        [](Desk& desk, const api::Call& call, const api::UpdateProject& request) -> Result<api::Project> {
            const Project& row = *TRY(project_named(desk, call, request.project, request.tenant_id));
            TRY(update_project(desk, row.id, request));
            return view(row);
        });
    service.write<ops::disable_project>(
        [](Desk& desk, const api::Call& call, const api::NameProject& request) -> Result<api::Project> {
            const Project& row = *TRY(project_named(desk, call, request.project, request.tenant_id));
            set_project(desk, row.id, Wanted::disabled);
            return view(row);
        });
    service.write<ops::enable_project>(
        [](Desk& desk, const api::Call& call, const api::NameProject& request) -> Result<api::Project> {
            const Project& row = *TRY(project_named(desk, call, request.project, request.tenant_id));
            set_project(desk, row.id, Wanted::enabled);
            return view(row);
        });
    service.write<ops::delete_project>(
        [](Desk& desk, const api::Call& call, const api::DeleteProject& request) -> Result<api::Empty> {
            const Project& row = *TRY(project_named(desk, call, request.project, request.tenant_id));
            TRY(delete_project(desk, row.id, request));
            return api::Empty{};
        });
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateTenant& request) {
    return subject_of_tenant(desk, request.name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::NameTenant& request) {
    return subject_of_tenant(desk, request.tenant);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateTenant& request) {
    return subject_of_tenant(desk, request.tenant);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::DeleteTenant& request) {
    return subject_of_tenant(desk, request.tenant);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameProject& request) {
    const auto found = project_named(desk, call, request.project, request.tenant_id);
    return found ? subject_named(**found, api::encode(view(**found))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateProject& request) {
    return subject_of(desk, call, api::NameProject{request.name, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateProject& request) {
    return subject_of(desk, call, api::NameProject{request.project, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::DeleteProject& request) {
    return subject_of(desk, call, api::NameProject{request.project, request.tenant_id});
}

void add_tenants(Api& service) {
    add_tenant_operations(service);
    add_project_operations(service);
}

}  // namespace hostler::master

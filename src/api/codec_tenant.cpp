#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_tenant.h"

HOSTLER_JSON(hostler::api::Tenant)
HOSTLER_JSON(hostler::api::CreateTenant)
HOSTLER_JSON(hostler::api::NameTenant)
HOSTLER_JSON(hostler::api::ListTenants)
HOSTLER_JSON(hostler::api::UpdateTenant)
HOSTLER_JSON(hostler::api::DeleteTenant)
HOSTLER_JSON(hostler::api::List<hostler::api::Tenant>)
HOSTLER_JSON(hostler::api::Project)
HOSTLER_JSON(hostler::api::CreateProject)
HOSTLER_JSON(hostler::api::NameProject)
HOSTLER_JSON(hostler::api::ListProjects)
HOSTLER_JSON(hostler::api::UpdateProject)
HOSTLER_JSON(hostler::api::DeleteProject)
HOSTLER_JSON(hostler::api::List<hostler::api::Project>)

namespace hostler::api {

ApiArea tenant_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_tenant,
        &list_tenants,
        &get_tenant,
        &update_tenant,
        &disable_tenant,
        &enable_tenant,
        &delete_tenant,
        &create_project,
        &list_projects,
        &get_project,
        &update_project,
        &disable_project,
        &enable_project,
        &delete_project,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"tenant", "Tenants: who pays and owns."},
        {"project", "Projects of a tenant, each with a separate network."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_role.h"

HOSTLER_JSON(hostler::api::PermissionInfo)
HOSTLER_JSON(hostler::api::Role)
HOSTLER_JSON(hostler::api::CreateRole)
HOSTLER_JSON(hostler::api::ListRoles)
HOSTLER_JSON(hostler::api::NameRole)
HOSTLER_JSON(hostler::api::UpdateRole)
HOSTLER_JSON(hostler::api::Grant)
HOSTLER_JSON(hostler::api::CreateGrant)
HOSTLER_JSON(hostler::api::ListGrants)
HOSTLER_JSON(hostler::api::NameGrant)
HOSTLER_JSON(hostler::api::Group)
HOSTLER_JSON(hostler::api::CreateGroup)
HOSTLER_JSON(hostler::api::ListGroups)
HOSTLER_JSON(hostler::api::NameGroup)
HOSTLER_JSON(hostler::api::GroupMember)
HOSTLER_JSON(hostler::api::List<hostler::api::PermissionInfo>)
HOSTLER_JSON(hostler::api::List<hostler::api::Role>)
HOSTLER_JSON(hostler::api::List<hostler::api::Grant>)
HOSTLER_JSON(hostler::api::List<hostler::api::Group>)

namespace hostler::api {

void Rules<CreateGrant>::check(const CreateGrant& request, Wrong& wrong) {
    if (request.cloud && (request.tenant_id || request.project || request.provider))
        wrong.push_back({"cloud", "is the whole cloud: leave out tenantID, project and provider"});
    if (request.provider && (request.tenant_id || request.project))
        wrong.push_back({"provider", "is no tenant: leave out tenantID and project"});
}

ApiArea role_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_permissions,
        &create_role,
        &list_roles,
        &get_role,
        &update_role,
        &delete_role,
        &create_grant,
        &list_grants,
        &delete_grant,
        &create_group,
        &list_groups,
        &get_group,
        &add_group_member,
        &remove_group_member,
        &disable_group,
        &enable_group,
        &delete_group,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"permission", "The permissions that roles contain."},
        {"role", "Named sets of permissions."},
        {"grant", "Roles of users, groups and service accounts."},
        {"group", "Users who get roles together."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

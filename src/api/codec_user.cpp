#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_user.h"

HOSTLER_JSON(hostler::api::User)
HOSTLER_JSON(hostler::api::CreateUser)
HOSTLER_JSON(hostler::api::CreatedUser)
HOSTLER_JSON(hostler::api::ListUsers)
HOSTLER_JSON(hostler::api::NameUser)
HOSTLER_JSON(hostler::api::UpdateUser)
HOSTLER_JSON(hostler::api::CreatedPasswordLink)
HOSTLER_JSON(hostler::api::Invitation)
HOSTLER_JSON(hostler::api::CreateInvitation)
HOSTLER_JSON(hostler::api::CreatedInvitation)
HOSTLER_JSON(hostler::api::ListInvitations)
HOSTLER_JSON(hostler::api::NameInvitation)
HOSTLER_JSON(hostler::api::AcceptInvitation)
HOSTLER_JSON(hostler::api::AcceptedInvitation)
HOSTLER_JSON(hostler::api::List<hostler::api::User>)
HOSTLER_JSON(hostler::api::List<hostler::api::Invitation>)

namespace hostler::api {

void Rules<CreateInvitation>::check(const CreateInvitation& request, Wrong& wrong) {
    if (request.cloud && (request.tenant_id || request.project || request.provider))
        wrong.push_back({"cloud", "is the whole cloud: leave out tenantID, project and provider"});
    if (request.provider && (request.tenant_id || request.project))
        wrong.push_back({"provider", "is no tenant: leave out tenantID and project"});
}

ApiArea user_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_user,
        &list_users,
        &get_user,
        &update_user,
        &disable_user,
        &enable_user,
        &remove_user,
        &create_password_link,
        &create_invitation,
        &list_invitations,
        &delete_invitation,
        &accept_invitation,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"user", "People who sign in."},
        {"invitation", "Invitations by which people become users or get roles."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

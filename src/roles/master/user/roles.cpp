#include "roles/master/user/roles.h"

#include <fmt/format.h>

#include "roles/master/role/grants.h"
#include "roles/master/tenancy/principals.h"
#include "roles/master/user/invitations.h"

namespace hostler::master {

Result<> grant_of_invitation(Desk& desk, const Invitation& invitation, const std::string& user) {
    const Scope scope = scope_of_invitation(invitation);
    TRY(role_for(desk, invitation.role, scope));
    TRY(give_role(desk, std::string{user_subject} + user, invitation.role, scope, 0, invitation.made_by));
    return {};
}

Result<> check_over(const Desk& desk, const api::Call& call, const User& user) {
    for (const Held& held : held_by(desk, std::string{user_subject} + user.id, desk.estate.micros())) {
        if (holds_all(call.caller.principal, held.permissions, held.scope)) continue;
        Error error{Code::forbidden, fmt::format("user {} has roles that you do not have", user.login),
                    "role_exceeds"};
        error.help = "Ask an admin who has them, or an operator.";
        return std::unexpected(std::move(error));
    }
    return {};
}

}  // namespace hostler::master

#include "roles/master/user/roles.h"

#include <fmt/format.h>

namespace hostler::master {

// MERGE: call give_role(desk, "user/" + user, invitation.role, scope, 0) of roles/master/role/grants.h here.
Result<> grant_of_invitation(Desk& desk, const Invitation& invitation, const std::string& user) {
    desk.estate.event(
        "user", user, invitation.tenant, "role_given",
        fmt::format("The user got the role {} by invitation {}.", invitation.role, invitation.id));
    return {};
}

// MERGE: erase the grants of `subject` here.
void forget_roles(Desk&, const std::string&) {}

}  // namespace hostler::master

// What people get and lose with their roles.
#pragma once

#include <string>

#include "roles/master/state/desk.h"

namespace hostler::master {

// Gives the user the role of the invitation. Errors: those of giving a role: not_found, forbidden.
Result<> grant_of_invitation(Desk& desk, const Invitation& invitation, const std::string& user);
// `subject` ("user/u-…", "account/sa-…") is going.
void forget_roles(Desk& desk, const std::string& subject);

}  // namespace hostler::master

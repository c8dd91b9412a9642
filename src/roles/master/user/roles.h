// What people get and lose with their roles.
#pragma once

#include <string>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Gives the user the role of the invitation. Errors: those of giving a role: invalid, exhausted.
Result<> grant_of_invitation(Desk& desk, const Invitation& invitation, const std::string& user);
// Whoever can sign in as a user, or as a program, has all that they hold: another does not get that way to
// more than they have. Errors: forbidden (role_exceeds).
Result<> check_over(const Desk& desk, const api::Call& call, const User& user);

}  // namespace hostler::master

// Password links: a secret sets the password of its user, once, for the API and for the page.
#pragma once

#include <string>

#include "roles/master/http/api.h"

namespace hostler::api {
struct ResetPassword;
}  // namespace hostler::api

namespace hostler::master {

// Errors: not_found (link_unknown), all alike: it was never made, was used, has ended or was replaced, or its
// user is disabled or gone.
Result<const User*> user_of_password_link(const Term& term, const std::string& secret);

// As operation resetPassword. A password is hashed only for a link that is good. Errors: those of
// user_of_password_link(); invalid, with the field newPassword.
Task<api::Empty> reset_password(Api& service, api::Call call, api::ResetPassword request);

}  // namespace hostler::master

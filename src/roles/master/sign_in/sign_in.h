// Rules of sessions and second factors. What is wrong with a sign-in is not told: a login that does not
// exist, a wrong password and a wrong code have one answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/handlers.h"
#include "ports/digest.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Session;
}

namespace hostler::master {

std::unexpected<Error> sign_in_failed();

// Checks the second factor of a user who has one, and uses the code up. Errors: unauthenticated
// (code_needed: there is none; sign_in_failed: it is wrong, or was used).
Result<> use_code(Desk& desk, const std::string& user, const std::optional<std::string>& code,
                  const Digest& digest);

struct MadeLogin {
    const Login* login;
    std::string secret;
};
MadeLogin make_login(Desk& desk, const std::string& user, const api::Caller& from, const Digest& digest);

api::Session view(const Desk& desk, const Login& login, const api::Call& call);

// The second factor counts from its confirmation on.
std::string begin_totp(Desk& desk, const std::string& user);
// Recovery codes, as people keep them. Errors: conflict (totp_not_begun, totp_exists), invalid (a wrong
// code).
Result<std::vector<std::string>> confirm_totp(Desk& desk, const std::string& user, const std::string& code,
                                              const Digest& digest);
void remove_totp(Desk& desk, const std::string& user);

}  // namespace hostler::master

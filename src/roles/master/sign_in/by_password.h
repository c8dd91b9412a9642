// Signing in with login and password: the same for the API and for browsers, so that neither is a faster way
// to guess, or a quieter one.
#pragma once

#include "api/types_sign_in.h"
#include "roles/master/http/api.h"
#include "roles/master/sign_in/own.h"
#include "roles/master/sign_in/sign_in.h"

namespace hostler::master {

struct PasswordCheck {
    Attempt tried;
    std::string checked;  // The user's hash that the password is of; empty: it is wrong, or there is no user.
};
// Waits for its turn, and takes as long for a login that does not exist. Errors: exhausted
// (too_many_sign_ins), cancelled.
Task<PasswordCheck> check_password(TermPtr term, std::string login, std::string password,
                                   std::string address);

enum class Makes { session, nothing };
// With a password that was checked a moment ago, and the code in `request`, whose password is not looked at.
// Makes::nothing: the person is authenticated, and the answer has no secret. Audited either way. Errors:
// unauthenticated (sign_in_failed, code_needed).
Task<api::SignedIn> sign_in(Api& service, api::Call call, api::SignIn request, PasswordCheck check,
                            Makes makes);

// The answer to a sign-in without a session, and with one.
api::SignedIn signed_in(const Desk& desk, const User& user);
api::SignedIn session_made(const Desk& desk, const MadeLogin& made);

}  // namespace hostler::master

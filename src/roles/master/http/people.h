// Whose credential it is: sessions of people, and keys of service accounts.
#pragma once

#include <string>

#include "api/handlers.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

inline constexpr std::string_view login_mark = "login/";  // Of the credential of a session, before its hash.
inline constexpr std::string_view user_mark = "user/";    // Of a person, before the id.
inline constexpr std::string_view login_prefix = "hu";    // Of secrets of sessions.

inline constexpr std::string_view browser_client = "browser";  // Client of sessions that the pages make.

// The session that this secret opens; nullptr: there is none, or it is over, or its user may not sign in.
const Login* login_of_secret(const Term& term, const std::string& secret);
// The same of a credential "login/HASH".
const Login* login_of_credential(const Term& term, const std::string& credential);
// Of a session that one of these gave.
const User& user_of(const Desk& desk, const Login& login);
// Its session was used now: noted once in some minutes.
void note_use(Term& term, const std::string& credential);

// The person who calls; nullptr: it is no person.
const User* user_of_call(const Desk& desk, const api::Call& call);

// A second factor is required of them, and they have none yet: they may do nothing else than enrol it. Not
// where `login` came by an identity provider whose own second factor is trusted.
bool needs_totp(const Desk& desk, const User& user, const Login* login = nullptr);

// The account that the key stands for; nullptr: it is a key of its tenant, or of the operator.
const ServiceAccount* account_of(const Desk& desk, const ApiKey& key);
// It was not revoked, has not ended, and neither it nor its account is disabled.
bool is_good(const Desk& desk, const ApiKey& key, std::int64_t now);

}  // namespace hostler::master

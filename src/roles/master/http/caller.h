// Who asks: by API key, or by a browser's sign-in.
#pragma once

#include <optional>
#include <string>

#include "api/handlers.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

// nullopt: unknown, or over. A browser's session opens instances, not the API: it is no API key, and it opens
// the one route that it was signed in for. `address`: where the secret comes from; without one, keys for some
// addresses are unknown.
std::optional<api::Caller> caller_of(const Term& term, const std::string& secret,
                                     std::string_view address = {});
// Whether caller_of() may say something else of this secret at another address.
bool is_for_some_addresses(const Term& term, const std::string& secret);
// A caller's credential as marks name it, for what outlives the request; it is no secret. caller_of_mark()
// finds who has it now: nullopt: it has ended, or is not for `address`. A share link has none.
std::string mark_of(const Term& term, const api::Caller& caller);
std::optional<api::Caller> caller_of_mark(const Term& term, const std::string& mark,
                                          std::string_view address);
bool is_mark_for_some_addresses(const Term& term, const std::string& mark);
struct SignedIn {
    api::Caller caller;   // Of the credential that signed in; `expires`: the first end of both.
    std::string session;  // The hash of the browser's cookie.
};
std::optional<SignedIn> caller_of_sign_in(const Term& term, const std::string& session,
                                          const std::string& route);

// Names for gateways what a caller's credential stands on, and says which of them are over.
std::vector<std::string> marks_of(const Term& term, const api::Caller& caller,
                                  const std::string& session = {});
// Of where it is let in: the tenant and the project are not disabled.
std::vector<std::string> marks_of_place(const std::string& tenant, const std::string& project);
bool is_over(const Term& term, const std::string& mark);
std::vector<std::string> ended_marks(const Term& term, std::span<const Touched> touched);

// Whether the credential by which a caller was let in is still good; what it may is as it is now. Errors:
// unauthenticated.
Result<> still_known(const Term& term, api::Caller& caller);

// Where a browser's session in the console counts: no instance has this route.
inline constexpr std::string_view console_route = "/console";
// As the audit names a browser's session, by its hash; it is no secret.
std::string session_name(std::string_view hash);
// nullopt: the session is unknown or over, or its key is not for this address.
std::optional<api::Caller> caller_of_console(const Term& term, const std::string& session,
                                             std::string_view address);

// A one-time code that a browser carries from the sign-in page to one route of the gateway, or by a link to
// the console.
inline constexpr std::chrono::seconds code_life{60};
std::string make_code(Term& term, const api::Caller& caller, const std::string& route,
                      std::chrono::seconds life = code_life);
// The session of a browser whose user has been authenticated a moment ago; to be committed by the caller.
std::string make_session(Term& term, const api::Caller& caller, const std::string& route);
// A session of a program at a route that lives for `life`; to be committed by the caller. The oldest of the
// caller's credential at this route makes room for one more than `most`.
std::string make_token(Term& term, const api::Caller& caller, const std::string& route,
                       std::chrono::seconds life, std::size_t most);
// The session it is good for; to be committed by the caller. Errors: unauthenticated.
Result<std::string> redeem_code(Term& term, const std::string& code, const std::string& route);
// Ends a session at its route, if it is one; to be committed by the caller.
void sign_out(Term& term, const std::string& session, const std::string& route);

}  // namespace hostler::master

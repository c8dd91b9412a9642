// The steps of flow.h.
#pragma once

#include "roles/master/oidc/flow.h"
#include "roles/master/oidc/oidc_state.h"

namespace hostler::master {

// The browser that an attempt belongs to has this cookie, named after the state: several attempts are
// possible at once.
std::string attempt_cookie_name(const OidcFront& front, std::string_view state);
std::string attempt_cookie(const OidcFront& front, std::string_view state, std::string_view secret);

// One answer for all that is wrong. `provider`: its id; empty: it is not known. `reason`: for the audit.
Task<> refuse_sign_in(http::Exchange& exchange, TermPtr term, OidcFront front, std::string provider,
                      std::string reason);
// Errors of provider_calls.h: of a provider that is away, one page; of all others, that of refuse_sign_in().
Task<> refuse_for(http::Exchange& exchange, TermPtr term, OidcFront front, IdentityProvider provider,
                  Error why);

// Asks for our second factor; POST /sign-in/oidc/code takes it.
Task<> ask_code(http::Exchange& exchange, std::string state, int status);
Task<> take_code(http::Exchange& exchange, TermPtr term, OidcFront front);
inline constexpr std::string_view oidc_code_path = "/sign-in/oidc/code";

Task<> answer_back_channel(http::Exchange& exchange, TermPtr term, std::string provider);

}  // namespace hostler::master

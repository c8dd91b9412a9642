// Signing in by an identity provider in a browser: GET /sign-in/oidc/{idp} sends it to the provider, and the
// provider back to GET /sign-in/oidc/callback; POST /sign-in/oidc/{idp}/logout is the provider's word that a
// session has ended.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/tenancy/user.h"
#include "http/server.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

inline constexpr std::string_view oidc_path = "/sign-in/oidc/";

// A button of the sign-in page: "Acme", "/sign-in/oidc/idp-…". To the path comes ?target=, where the browser
// is to go afterwards, as `ProviderSignIn` gives it back; at most target_max bytes.
struct ProviderChoice {
    std::string label;
    std::string path;
};
// Of enabled providers: the cloud's, those that are listed, and those of `tenant`, unless it is empty.
std::vector<ProviderChoice> provider_choices(const Desk& desk, const std::string& tenant);
inline constexpr std::size_t target_max = 4096;

// A person whom a provider has vouched for, with our second factor where it is needed.
struct ProviderSignIn {
    std::string user;
    std::string target;    // As it was begun with: from the browser, so it is to be checked as any other.
    SessionSource source;  // For note_source().
};

struct OidcFront {
    std::string origin;   // As browsers reach us: "https://cloud.example".
    std::string address;  // Of the browser.
    // Makes the session and answers. What has been decided is committed.
    std::function<Task<>(http::Exchange&, TermPtr, ProviderSignIn)> signed_in;
    // Answers with a page that says why not.
    std::function<Task<>(http::Exchange&, int status, std::string sentence)> refused;
};
// Answers a request whose path begins with oidc_path. What is wrong with a token, a state or a person is one
// answer, 401; the audit has the reason.
Task<> answer_oidc(http::Exchange& exchange, TermPtr term, OidcFront front);

}  // namespace hostler::master

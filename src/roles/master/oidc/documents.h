// What goes to an identity provider and comes from it, as texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/oidc/claims.h"
#include "domain/oidc/provider.h"
#include "ports/digest.h"

namespace hostler::master {

inline constexpr std::size_t document_bytes_max = 256 * 1024;  // Of each answer of a provider.

// Errors: invalid (it is no such document).
Result<Discovery> parse_discovery(std::string_view json);
// `groups_claim`: a member, or the way to one in objects, as "realm_access.roles"; empty: none.
Result<Claims> parse_claims(std::string_view json, std::string_view groups_claim);
struct ProviderTokens {
    std::string id_token;
    std::string access_token;  // Empty: there is none.
};
Result<ProviderTokens> parse_tokens(std::string_view json);
// The `error` of an answer, safe to show; empty: it says none.
std::string error_in(std::string_view json);

// Of "https://id.example/a": where its discovery document is.
std::string discovery_url(std::string_view issuer);
// S256 of RFC 7636.
std::string pkce_challenge(const Digest& digest, std::string_view verifier);
struct Authorization {
    std::string_view endpoint, client_id, redirect, state, nonce, challenge;
    const std::vector<std::string>& scopes;
};
std::string authorization_url(const Authorization& wanted);
// Where a browser ends the provider's session; empty: nowhere.
std::string end_session_url(const Discovery& discovery, std::string_view client_id, std::string_view back);

// "a=b&c=d", each name and value encoded.
using FormFields = std::vector<std::pair<std::string_view, std::string_view>>;
std::string form_of(const FormFields& fields);
// The first of this name in a form or a query; "": there is none.
std::string form_value(std::string_view form, std::string_view name);

}  // namespace hostler::master

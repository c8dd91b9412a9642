// What an identity provider says, and whether it may be believed (OpenID Connect Core 1.0, Discovery 1.0,
// Back-Channel Logout 1.0). Signatures were checked before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler {

// Of /.well-known/openid-configuration.
struct Discovery {
    std::string issuer;
    std::string authorization_endpoint;
    std::string token_endpoint;
    std::string jwks_uri;
    std::string userinfo_endpoint;         // Empty: it has none.
    std::string end_session_endpoint;      // Empty: it has none.
    std::vector<std::string> client_auth;  // Ways in which a client shows its secret; empty: by Basic.
    bool names_issuer = false;             // In its answers to browsers (RFC 9207).
};
// What is wrong with it; empty: nothing. `issuer`: as it was configured, byte for byte.
std::string wrong_discovery(const Discovery& discovery, std::string_view issuer);

struct Claims {
    std::string issuer, subject;
    std::vector<std::string> audience;
    std::optional<std::string> authorized_party, nonce;
    std::optional<std::int64_t> expires_at, issued_at, not_before;  // Seconds since 1970.
    std::string sid;                                                // Of the provider's session.
    std::string id;                                                 // `jti`
    bool ends_session = false;                                      // Its `events` say so.
    std::string login, email, name;                                 // As the provider knows the person.
    bool email_verified = false;
    std::optional<std::vector<std::string>> groups;  // nullopt: it says nothing of groups.
};

inline constexpr std::int64_t clock_skew_s = 60;       // By which the provider's clock may be off.
inline constexpr std::int64_t token_age_max_s = 600;   // Since a token was issued.
inline constexpr std::int64_t logout_age_max_s = 300;  // The same of a logout token.
inline constexpr std::size_t subject_bytes_max = 255;  // As the standard has it.

struct ExpectedToken {
    std::string_view issuer, client_id, nonce;
    std::int64_t now_s = 0;
};
// A token for logs, as "wrong_nonce"; empty: it is good.
std::string_view wrong_id_token(const Claims& claims, const ExpectedToken& expected);
// `nonce` is of no account. `jti` is to be compared with those of late by the caller.
std::string_view wrong_logout_token(const Claims& claims, const ExpectedToken& expected);

// A login for a new user, of what the provider says of the person; empty: nothing of it will do.
std::string login_of_claims(const Claims& claims);

}  // namespace hostler

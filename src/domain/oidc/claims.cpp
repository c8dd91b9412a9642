#include "domain/oidc/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/oidc/provider.h"
#include "domain/tenancy/credentials.h"

namespace hostler {

namespace {

bool is_subject(std::string_view text) {
    return !text.empty() && text.size() <= subject_bytes_max &&
           std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

// Who issued it, and for whom.
std::string_view wrong_parties(const Claims& claims, const ExpectedToken& expected) {
    if (claims.issuer != expected.issuer) return "wrong_issuer";
    if (std::ranges::count(claims.audience, expected.client_id) == 0) return "wrong_audience";
    if (claims.audience.size() > 1 && !claims.authorized_party) return "no_authorized_party";
    if (claims.authorized_party && *claims.authorized_party != expected.client_id)
        return "wrong_authorized_party";
    return "";
}

std::string_view wrong_times(const Claims& claims, std::int64_t now, std::int64_t age_max) {
    if (!claims.issued_at) return "no_issue_time";
    if (*claims.issued_at > now + clock_skew_s) return "from_the_future";
    if (*claims.issued_at < now - age_max - clock_skew_s) return "too_old";
    if (claims.expires_at && *claims.expires_at <= now - clock_skew_s) return "expired";
    if (claims.not_before && *claims.not_before > now + clock_skew_s) return "not_yet_valid";
    return "";
}

}  // namespace

std::string wrong_discovery(const Discovery& discovery, std::string_view issuer) {
    if (discovery.issuer != issuer)
        return fmt::format("its issuer is \"{}\", and \"{}\" is configured", discovery.issuer, issuer);
    struct Endpoint {
        std::string_view name;
        const std::string& url;
        bool required;
    };
    const bool loopback = is_loopback_url(issuer);
    for (const Endpoint& one : {Endpoint{"authorization_endpoint", discovery.authorization_endpoint, true},
                                Endpoint{"token_endpoint", discovery.token_endpoint, true},
                                Endpoint{"jwks_uri", discovery.jwks_uri, true},
                                Endpoint{"userinfo_endpoint", discovery.userinfo_endpoint, false},
                                Endpoint{"end_session_endpoint", discovery.end_session_endpoint, false}}) {
        if (one.url.empty() && !one.required) continue;
        if (one.url.empty()) return fmt::format("it has no {}", one.name);
        if (const std::string wrong = wrong_provider_url(one.url); !wrong.empty())
            return fmt::format("its {} {}", one.name, wrong);
        if (!loopback && is_loopback_url(one.url))
            return fmt::format("its {} is at a loopback address", one.name);
    }
    return {};
}

std::string_view wrong_id_token(const Claims& claims, const ExpectedToken& expected) {
    if (const std::string_view wrong = wrong_parties(claims, expected); !wrong.empty()) return wrong;
    if (!claims.expires_at) return "no_expiry";
    if (const std::string_view wrong = wrong_times(claims, expected.now_s, token_age_max_s); !wrong.empty())
        return wrong;
    if (!claims.nonce || expected.nonce.empty() || *claims.nonce != expected.nonce) return "wrong_nonce";
    if (!is_subject(claims.subject)) return "wrong_subject";
    if (claims.ends_session) return "logout_token";
    return "";
}

std::string_view wrong_logout_token(const Claims& claims, const ExpectedToken& expected) {
    if (const std::string_view wrong = wrong_parties(claims, expected); !wrong.empty()) return wrong;
    if (const std::string_view wrong = wrong_times(claims, expected.now_s, logout_age_max_s); !wrong.empty())
        return wrong;
    if (!claims.ends_session) return "no_logout_event";
    if (claims.nonce) return "has_nonce";
    if (claims.id.empty() || claims.id.size() > subject_bytes_max) return "no_jti";
    if (claims.subject.empty() && claims.sid.empty()) return "no_subject";
    if (!claims.subject.empty() && !is_subject(claims.subject)) return "wrong_subject";
    return "";
}

std::string login_of_claims(const Claims& claims) {
    for (const std::string& text : {claims.login, claims.email}) {
        std::string login = plain_login(text);
        if (!login.empty() && wrong_login(login).empty()) return login;
    }
    return {};
}

}  // namespace hostler

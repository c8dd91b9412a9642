#include "roles/master/oidc/documents.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "api/codec.h"
#include "api/router.h"
#include "core/base64.h"
#include "core/percent.h"
#include "core/safe_text.h"

namespace hostler::master {

namespace {

namespace json = boost::json;

constexpr std::size_t text_bytes_max = 4096;
constexpr std::size_t list_size_max = 1000;

Result<json::object> object_in(std::string_view text) {
    json::value value = TRY(api::parse_json(text, document_bytes_max));
    if (!value.is_object()) return fail(Code::invalid, "it is no JSON object");
    return std::move(value.get_object());
}

// "" when it is absent, no text, or too long.
std::string text_at(const json::object& object, std::string_view name, std::size_t most = text_bytes_max) {
    const json::value* value = object.if_contains(name);
    const json::string* text = value ? value->if_string() : nullptr;
    return text && text->size() <= most ? std::string{*text} : "";
}

std::vector<std::string> texts_in(const json::value& value, std::size_t most) {
    std::vector<std::string> texts;
    if (const json::string* one = value.if_string()) texts.emplace_back(*one);
    if (const json::array* list = value.if_array())
        for (const json::value& one : *list)
            if (one.is_string() && texts.size() < most) texts.emplace_back(one.get_string());
    return texts;
}

std::vector<std::string> texts_at(const json::object& object, std::string_view name, std::size_t most) {
    const json::value* value = object.if_contains(name);
    return value ? texts_in(*value, most) : std::vector<std::string>{};
}

// Seconds; some issuers write fractions.
std::optional<std::int64_t> time_at(const json::object& object, std::string_view name) {
    constexpr double most = 1e12;
    const json::value* value = object.if_contains(name);
    if (!value || !value->is_number()) return std::nullopt;
    const double seconds = value->to_number<double>();
    if (!(std::abs(seconds) < most)) return std::nullopt;
    return static_cast<std::int64_t>(seconds);
}

std::optional<std::string> optional_text(const json::object& object, std::string_view name) {
    if (!object.contains(name)) return std::nullopt;
    return text_at(object, name);  // What is no text is an empty one, which is not what is expected.
}

const json::value* groups_at(const json::object& object, std::string_view claim) {
    if (const json::value* whole = object.if_contains(claim)) return whole;
    const auto dot = claim.find('.');
    if (dot == claim.npos) return nullptr;
    const json::value* next = object.if_contains(claim.substr(0, dot));
    const json::object* inner = next ? next->if_object() : nullptr;
    return inner ? groups_at(*inner, claim.substr(dot + 1)) : nullptr;
}

bool ends_session(const json::object& object) {
    const json::value* events = object.if_contains("events");
    const json::object* list = events ? events->if_object() : nullptr;
    const json::value* event =
        list ? list->if_contains("http://schemas.openid.net/event/backchannel-logout") : nullptr;
    return event && event->is_object();
}

std::string base64url(std::string_view bytes) {
    std::string text = base64(bytes);
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

std::string with_query(std::string_view endpoint, const std::string& query) {
    return fmt::format("{}{}{}", endpoint, endpoint.contains('?') ? '&' : '?', query);
}

}  // namespace

Result<Discovery> parse_discovery(std::string_view text) {
    const json::object object = TRY(object_in(text));
    const json::value* names = object.if_contains("authorization_response_iss_parameter_supported");
    return Discovery{.issuer = text_at(object, "issuer"),
                     .authorization_endpoint = text_at(object, "authorization_endpoint"),
                     .token_endpoint = text_at(object, "token_endpoint"),
                     .jwks_uri = text_at(object, "jwks_uri"),
                     .userinfo_endpoint = text_at(object, "userinfo_endpoint"),
                     .end_session_endpoint = text_at(object, "end_session_endpoint"),
                     .client_auth = texts_at(object, "token_endpoint_auth_methods_supported", list_size_max),
                     .names_issuer = names && names->is_bool() && names->get_bool()};
}

Result<Claims> parse_claims(std::string_view text, std::string_view groups_claim) {
    constexpr std::size_t name_max = 128, audience_max = 64;
    const json::object object = TRY(object_in(text));
    Claims claims{.issuer = text_at(object, "iss"),
                  .subject = text_at(object, "sub"),
                  .audience = texts_at(object, "aud", audience_max),
                  .authorized_party = optional_text(object, "azp"),
                  .nonce = optional_text(object, "nonce"),
                  .expires_at = time_at(object, "exp"),
                  .issued_at = time_at(object, "iat"),
                  .not_before = time_at(object, "nbf"),
                  .sid = text_at(object, "sid", subject_bytes_max),
                  .id = text_at(object, "jti"),
                  .ends_session = ends_session(object),
                  .login = text_at(object, "preferred_username"),
                  .email = text_at(object, "email"),
                  .name = safe_line(text_at(object, "name", name_max))};
    const json::value* verified = object.if_contains("email_verified");
    claims.email_verified = verified && verified->is_bool() && verified->get_bool();
    const json::value* groups = groups_claim.empty() ? nullptr : groups_at(object, groups_claim);
    if (groups) claims.groups = texts_in(*groups, groups_person_max);
    return claims;
}

Result<ProviderTokens> parse_tokens(std::string_view text) {
    constexpr std::size_t token_max = 64 * 1024;
    const json::object object = TRY(object_in(text));
    ProviderTokens tokens{.id_token = text_at(object, "id_token", token_max),
                          .access_token = text_at(object, "access_token", token_max)};
    if (tokens.id_token.empty()) return fail(Code::invalid, "the answer has no ID token");
    return tokens;
}

std::string error_in(std::string_view text) {
    constexpr std::size_t error_max = 64;
    const auto object = object_in(text);
    return object ? safe_line(text_at(*object, "error", error_max)) : "";
}

std::string discovery_url(std::string_view issuer) {
    while (issuer.ends_with('/')) issuer.remove_suffix(1);
    return std::string{issuer} + "/.well-known/openid-configuration";
}

std::string pkce_challenge(const Digest& digest, std::string_view verifier) {
    constexpr std::size_t hex_size = 64;
    const std::string hex = digest.sha256(verifier);
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size() && hex.size() == hex_size; i += 2) {
        unsigned value = 0;
        std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
        bytes += static_cast<char>(value);
    }
    return base64url(bytes.empty() ? hex : bytes);  // Digests of tests are no digits.
}

std::string form_of(const FormFields& fields) {
    std::string form;
    for (const auto& [name, value] : fields)
        form += fmt::format("{}{}={}", form.empty() ? "" : "&", percent_encode(name), percent_encode(value));
    return form;
}

std::string form_value(std::string_view form, std::string_view name) {
    while (!form.empty()) {
        const std::string_view pair = form.substr(0, form.find('&'));
        form.remove_prefix(std::min(form.size(), pair.size() + 1));
        const auto equals = pair.find('=');
        if (equals == pair.npos || pair.substr(0, equals) != name) continue;
        return api::percent_decode(pair.substr(equals + 1), true).value_or("");
    }
    return {};
}

std::string authorization_url(const Authorization& wanted) {
    std::string scope = "openid";
    for (const std::string& one : wanted.scopes) scope += " " + one;
    return with_query(wanted.endpoint, form_of({{"response_type", "code"},
                                                {"client_id", wanted.client_id},
                                                {"redirect_uri", wanted.redirect},
                                                {"scope", scope},
                                                {"state", wanted.state},
                                                {"nonce", wanted.nonce},
                                                {"code_challenge", wanted.challenge},
                                                {"code_challenge_method", "S256"}}));
}

std::string end_session_url(const Discovery& discovery, std::string_view client_id, std::string_view back) {
    if (discovery.end_session_endpoint.empty()) return {};
    return with_query(discovery.end_session_endpoint,
                      form_of({{"client_id", client_id}, {"post_logout_redirect_uri", back}}));
}

}  // namespace hostler::master

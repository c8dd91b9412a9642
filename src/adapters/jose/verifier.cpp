#include "adapters/jose/verifier.h"

#include <cjose/cjose.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "core/base64.h"

namespace hostler::jose {

namespace {

namespace json = boost::json;

struct Algorithm {
    std::string_view name, key_type, curve;
};
constexpr Algorithm algorithms[] = {
    {"RS256", "RSA", ""},     {"RS384", "RSA", ""},     {"RS512", "RSA", ""},
    {"PS256", "RSA", ""},     {"PS384", "RSA", ""},     {"PS512", "RSA", ""},
    {"ES256", "EC", "P-256"}, {"ES384", "EC", "P-384"}, {"ES512", "EC", "P-521"},
};

struct Free {
    void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
    void operator()(cjose_jwk_t* jwk) const { cjose_jwk_release(jwk); }
};
using Jws = std::unique_ptr<cjose_jws_t, Free>;
using Jwk = std::unique_ptr<cjose_jwk_t, Free>;

std::unexpected<Error> refused(std::string why) { return fail(Code::unauthenticated, std::move(why)); }

std::optional<json::object> object_in(std::string_view text) {
    constexpr json::parse_options options{.max_depth = 16};
    boost::system::error_code error;
    json::value value = json::parse(text, error, {}, options);
    if (error || !value.is_object()) return std::nullopt;
    return std::move(value.get_object());
}

// "" when it is absent or no text.
std::string_view text_at(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    const json::string* text = value ? value->if_string() : nullptr;
    return text ? std::string_view{*text} : std::string_view{};
}

bool is_base64url(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_';
    });
}

bool is_compact(std::string_view token) {
    int parts = 0;
    while (true) {
        const auto dot = token.find('.');
        if (!is_base64url(token.substr(0, dot))) return false;
        ++parts;
        if (dot == token.npos) return parts == 3;
        token.remove_prefix(dot + 1);
    }
}

struct Head {
    const Algorithm* algorithm;
    std::string key, type;
};

Result<Head> head_of(std::string_view token) {
    const auto object = object_in(base64_decoded(token.substr(0, token.find('.'))));
    if (!object) return refused("its header is no JSON object");
    // An extension that has to be understood is none that we know.
    if (object->contains("crit") || object->contains("b64")) return refused("its header has extensions");
    const std::string_view name = text_at(*object, "alg");
    const auto* algorithm = std::ranges::find(algorithms, name, &Algorithm::name);
    if (algorithm == std::end(algorithms)) return refused("its algorithm is not one that is taken");
    if (object->contains("kid") && text_at(*object, "kid").empty()) return refused("its kid is no text");
    return Head{algorithm, std::string{text_at(*object, "kid")}, std::string{text_at(*object, "typ")}};
}

bool has_size(const json::object& key) {
    if (text_at(key, "kty") != "RSA") return true;
    constexpr std::size_t exponent_bytes_max = 8;
    const std::size_t bits = base64_decoded(text_at(key, "n")).size() * 8;
    return bits >= TokenVerifier::rsa_bits_min && bits <= TokenVerifier::rsa_bits_max &&
           base64_decoded(text_at(key, "e")).size() <= exponent_bytes_max;
}

bool may_verify(const json::object& key) {
    const json::value* operations = key.if_contains("key_ops");
    if (!operations) return true;
    const json::array* list = operations->if_array();
    return list && std::ranges::any_of(*list, [](const json::value& one) {
               return one.is_string() && one.get_string() == "verify";
           });
}

bool fits(const json::object& key, const Algorithm& algorithm) {
    const std::string_view use = text_at(key, "use"), own = text_at(key, "alg");
    return text_at(key, "kty") == algorithm.key_type && text_at(key, "crv") == algorithm.curve &&
           (use.empty() || use == "sig") && (own.empty() || own == algorithm.name) && may_verify(key) &&
           has_size(key);
}

// Errors: invalid, not_found, unauthenticated.
Result<Jwk> key_for(const Head& head, std::string_view keys) {
    if (keys.size() > TokenVerifier::keys_bytes_max)
        return fail(Code::invalid, "the set of keys is too large");
    const auto set = object_in(keys);
    const json::value* member = set ? set->if_contains("keys") : nullptr;
    const json::array* list = member ? member->if_array() : nullptr;
    if (!list || list->size() > TokenVerifier::keys_max) return fail(Code::invalid, "it is no set of keys");
    std::vector<const json::object*> fitting;
    bool named = false;
    for (const json::value& one : *list) {
        const json::object* key = one.if_object();
        if (!key || (!head.key.empty() && text_at(*key, "kid") != head.key)) continue;
        named = true;
        if (fits(*key, *head.algorithm)) fitting.push_back(key);
    }
    if (fitting.size() > 1) return refused("several keys fit");
    if (fitting.empty() && (head.key.empty() || !named))
        return fail(Code::not_found, "the set has no such key");
    if (fitting.empty()) return refused("the key does not fit the algorithm");
    json::object plain;  // Without what says nothing of a public key.
    for (const char* name : {"kty", "n", "e", "crv", "x", "y"})
        if (const json::value* value = fitting.front()->if_contains(name)) plain[name] = *value;
    const std::string text = json::serialize(plain);
    cjose_err error{};
    Jwk jwk{cjose_jwk_import(text.data(), text.size(), &error)};
    if (!jwk) return refused("the key cannot be read");
    return jwk;
}

}  // namespace

Result<VerifiedToken> JoseVerifier::verify(std::string_view token, std::string_view keys) const {
    if (token.size() > token_bytes_max) return refused("it is too large");
    if (!is_compact(token)) return refused("it is no compact JWS");
    Head head = TRY(head_of(token));
    const Jwk key = TRY(key_for(head, keys));
    cjose_err error{};
    const Jws jws{cjose_jws_import(token.data(), token.size(), &error)};
    if (!jws) return refused("it cannot be read");
    // Both have to read the same header.
    const char* algorithm = cjose_header_get(cjose_jws_get_protected(jws.get()), CJOSE_HDR_ALG, &error);
    if (!algorithm || head.algorithm->name != algorithm) return refused("its header is ambiguous");
    if (!cjose_jws_verify(jws.get(), key.get(), &error)) return refused("its signature is wrong");
    std::uint8_t* claims = nullptr;
    std::size_t size = 0;
    if (!cjose_jws_get_plaintext(jws.get(), &claims, &size, &error)) return refused("it says nothing");
    return VerifiedToken{.algorithm = std::string{head.algorithm->name},
                         .key = std::move(head.key),
                         .type = std::move(head.type),
                         .claims = std::string{reinterpret_cast<const char*>(claims), size}};
}

}  // namespace hostler::jose

#include "roles/gateway/credentials.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::gateway {

namespace {

// The name under which a browser sends a cookie: "name=value", or, without a name, its value.
bool is_own_cookie(std::string_view cookie) {
    cookie = http::trimmed(cookie);
    while (cookie.starts_with('=')) cookie = http::trimmed(cookie.substr(1));
    return http::same_name(cookie.substr(0, cookie_prefix.size()), cookie_prefix) ||
           http::same_name(cookie.substr(0, secure_cookie_prefix.size()), secure_cookie_prefix);
}

std::string base64_decoded(std::string_view text) {
    std::string plain;
    unsigned bits = 0;
    int held = 0;
    for (const char c : text) {
        unsigned digit = 0;
        if (c >= 'A' && c <= 'Z')
            digit = static_cast<unsigned>(c - 'A');
        else if (c >= 'a' && c <= 'z')
            digit = static_cast<unsigned>(c - 'a') + 26;
        else if (c >= '0' && c <= '9')
            digit = static_cast<unsigned>(c - '0') + 52;
        else if (c == '+' || c == '-')
            digit = 62;
        else if (c == '/' || c == '_')
            digit = 63;
        else
            break;
        bits = (bits << 6 | digit) & 0xffff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            plain += static_cast<char>(bits >> held & 0xff);
        }
    }
    return plain;
}

bool is_secret(std::string_view text) {
    return std::ranges::any_of(secret_prefixes,
                               [&](std::string_view prefix) { return text.starts_with(prefix); });
}

struct Scheme {
    std::string_view name;
    std::string_view rest;
};

Scheme scheme_of(std::string_view authorization) {
    authorization = http::trimmed(authorization);
    const auto space = authorization.find_first_of(" \t");
    if (space == std::string_view::npos) return {"", authorization};
    return {authorization.substr(0, space), http::trimmed(authorization.substr(space))};
}

}  // namespace

Shown shown_by(std::span<const http::Field> fields, std::string_view cookie) {
    Shown shown;
    std::string_view bearer;
    for (const auto& [name, value] : fields) {
        if (http::same_name(name, key_header)) {
            if (shown.key.empty()) shown.key = http::trimmed(value);
        } else if (http::same_name(name, "Authorization")) {
            const auto [scheme, token] = scheme_of(value);
            if (http::same_name(scheme, "Bearer") && is_secret(token)) bearer = token;
        } else if (http::same_name(name, "Cookie")) {
            const auto take = [&](std::string_view pair) {
                const auto equals = pair.find('=');
                if (equals == std::string_view::npos || pair.substr(0, equals) != cookie) return;
                const auto session = pair.substr(equals + 1);
                if (!session.empty() && session.size() <= credential_max &&
                    shown.cookies.size() < cookies_max)
                    shown.cookies.emplace_back(session);
            };
            http::each_item(value, take, ';');
        }
    }
    if (shown.key.empty()) shown.key = bearer;
    if (shown.key.size() > credential_max)
        shown.key.resize(credential_max);  // Fits no key, and no memory of ours.
    return shown;
}

bool carries_key(std::string_view authorization) {
    const auto [scheme, token] = scheme_of(authorization);
    if (is_secret(token)) return true;
    if (!http::same_name(scheme, "Basic")) return false;
    const auto plain = base64_decoded(token);
    return is_secret(plain) || std::ranges::any_of(secret_prefixes, [&](std::string_view prefix) {
               return plain.find(fmt::format(":{}", prefix)) != std::string::npos;
           });
}

std::string without_own_cookies(std::string_view value) {
    std::string left;
    const auto keep = [&](std::string_view cookie) {
        if (is_own_cookie(cookie)) return;
        if (!left.empty()) left += "; ";
        left += cookie;
    };
    http::each_item(value, keep, ';');
    return left;
}

}  // namespace hostler::gateway

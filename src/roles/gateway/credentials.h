// Who asks, and what tenant code must never see: keys and session cookies of the platform.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/head.h"

namespace hostler::gateway {

inline constexpr std::string_view key_header = "X-Hostler-Key";
// Secrets of the platform begin so: API keys, and sessions of people.
inline constexpr std::string_view secret_prefixes[] = {"hk_", "hu_"};
inline constexpr std::string_view session_cookie = "__hostler_session";
inline constexpr std::string_view secure_session_cookie = "__Host-hostler_session";  // Where TLS is.
inline constexpr std::string_view cookie_prefix = "__hostler";
inline constexpr std::string_view secure_cookie_prefix = "__Host-hostler";
inline constexpr std::size_t credential_max = 512;
// Another page may have planted one of the same name beside ours.
inline constexpr std::size_t cookies_max = 4;

struct Shown {
    std::string key;                   // An API key or a person's session; goes before cookies.
    std::vector<std::string> cookies;  // Values of the session cookie.
};
// `cookie`: the name of the cookie that counts here.
Shown shown_by(std::span<const http::Field> fields, std::string_view cookie);

bool carries_key(std::string_view authorization);  // Bearer with a secret of the platform, or one in Basic.

// `value` of a Cookie header without cookies of ours; "" when nothing is left.
std::string without_own_cookies(std::string_view value);

}  // namespace hostler::gateway

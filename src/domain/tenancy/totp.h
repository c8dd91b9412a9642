// One-time codes of authenticator programs (RFC 6238): HMAC-SHA-1, 6 digits, a new one every 30 s.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostler {

inline constexpr std::size_t totp_secret_bytes = 20;
inline constexpr std::size_t totp_digits = 6;
inline constexpr std::int64_t totp_step_s = 30;
inline constexpr std::int64_t totp_drift = 1;  // Steps that a clock may be early or late.

// RFC 4648 without padding.
std::string base32(std::string_view bytes);
// nullopt: it is none. Lower case is taken, too.
std::optional<std::string> base32_bytes(std::string_view text);

// `secret`: its bytes. `step`: 30 s since 1970.
std::string totp_code(std::string_view secret, std::int64_t step);
// The step whose code this is, at `now_s` seconds since 1970; nullopt: none of those that count, or not later
// than `used`, the last one that was used.
std::optional<std::int64_t> totp_match(std::string_view secret, std::string_view code, std::int64_t now_s,
                                       std::int64_t used);

}  // namespace hostler

// SHA-1 (RFC 3174) and its HMAC (RFC 2104), for one-time codes alone: authenticator programs know no other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hostler {

using Sha1 = std::array<std::uint8_t, 20>;

Sha1 sha1(std::string_view text);
Sha1 hmac_sha1(std::string_view key, std::string_view text);

}  // namespace hostler

// RFC 2104 over the Digest port.
#pragma once

#include "ports/digest.h"

namespace hostler {

// 64 hex digits.
std::string hmac_sha256(const Digest& digest, std::string_view key, std::string_view text);

}  // namespace hostler

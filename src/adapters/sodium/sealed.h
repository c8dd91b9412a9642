// Bytes sealed under a passphrase: argon2id makes a key of it, XSalsa20-Poly1305 hides them and shows every
// change. The file: "HOSTLER SEALED 1\n", passes (8 bytes, big-endian), memory in bytes (8), salt (16), nonce
// (24), then what is sealed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::sodium {

// What each guess of the passphrase costs. The default takes about a second and 256 MiB.
struct Cost {
    std::uint64_t passes = 3;
    std::uint64_t memory_bytes = std::uint64_t{256} << 20;
};

inline constexpr std::size_t passphrase_min = 8;
inline constexpr std::size_t plain_size_max = 1 << 20;

// Errors: invalid: a passphrase that is too short, more than plain_size_max; exhausted: no memory for it.
Result<std::string> seal(std::string_view plain, std::string_view passphrase, Cost cost = {});
// Errors: invalid: not such a file, torn, or of another version; unauthenticated: another passphrase, or
// changed on the way; exhausted: no memory for it.
Result<std::string> unseal(std::string_view sealed, std::string_view passphrase);

}  // namespace hostler::sodium

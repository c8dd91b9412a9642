// The master's certificate authority, kept in one file, and the keys of those who join. ECDSA on P-256:
// OpenSSL signs with it 2.6 times and checks it 2.1 times as fast as with Ed25519 (openssl speed), and a
// handshake does both.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "ports/authority.h"

namespace hostler::net {

// Opens FOLDER/authority.pem, or creates it (mode 0600, durable before this returns; two that create it at
// once end up with one). Errors: unavailable (the disk), invalid (the file is not ours, or others may read
// it).
Result<std::unique_ptr<Authority>> open_authority(std::string folder, Random& random, WallTime now);

// All of an authority, as text that is nobody else's: what `hostler ca export` seals. Errors: not_found,
// unavailable, invalid.
Result<std::string> read_authority_keys(const std::string& folder);
// What is in such text, the oldest first. Errors: invalid.
Result<std::vector<AuthorityFacts>> facts_of_keys(std::string_view keys);
enum class IfThere { leave, replace };
// The file is whole, or as it was. Errors: invalid, unavailable.
Result<> put_authority_keys(const std::string& folder, std::string_view keys, IfThere if_there);

// As Authority::check_text().
Result<> check_signed_text(std::string_view text, const std::string& signature,
                           const std::string& certificate_pem, const std::string& fingerprint);

std::unique_ptr<Keys> make_keys();

}  // namespace hostler::net

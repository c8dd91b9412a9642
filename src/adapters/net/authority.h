// The master's certificate authority, kept in one file, and the keys of those who join. ECDSA on P-256:
// OpenSSL signs with it 2.6 times and checks it 2.1 times as fast as with Ed25519 (openssl speed), and a
// handshake does both.
#pragma once

#include <memory>
#include <string>

#include "core/random.h"
#include "ports/authority.h"

namespace hostler::net {

// Opens FOLDER/authority.pem, or creates it (mode 0600, durable before this returns; two that create it at
// once end up with one). Errors: unavailable (the disk), invalid (the file is not ours, or others may read
// it).
Result<std::unique_ptr<Authority>> open_authority(std::string folder, Random& random, WallTime now);

std::unique_ptr<Keys> make_keys();

}  // namespace hostler::net

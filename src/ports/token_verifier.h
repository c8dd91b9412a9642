// Signatures of tokens that other people's servers give (JWS, RFC 7515), by the keys that they publish (JWK
// set, RFC 7517).
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

struct VerifiedToken {
    std::string algorithm;  // "RS256"
    std::string key;        // The `kid` of its header; empty: it names none.
    std::string type;       // The `typ` of its header; empty: it has none.
    std::string claims;     // What was signed: JSON, if the issuer kept to the rules.
};

class TokenVerifier {
public:
    static constexpr std::size_t token_bytes_max = 32 * 1024;
    static constexpr std::size_t keys_bytes_max = 256 * 1024;
    static constexpr std::size_t keys_max = 128;  // Of a set.
    // Of RSA: fewer bits are no protection, more are a load.
    static constexpr std::size_t rsa_bits_min = 2048, rsa_bits_max = 8192;

    virtual ~TokenVerifier() = default;
    // `token` in the compact form; `keys`: a JWK set. The algorithm is of RS256 … RS512, PS256 … PS512, ES256
    // … ES512, and fits the key's type, curve and use: never `none`, never a shared secret. The key is that
    // which `kid` names; without one the only key that fits. Errors: not_found (the set has no such key:
    // a newer one may), invalid (`keys` is no JWK set), unauthenticated (everything else).
    virtual Result<VerifiedToken> verify(std::string_view token, std::string_view keys) const = 0;
};

}  // namespace hostler

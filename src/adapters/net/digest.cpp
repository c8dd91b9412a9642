#include "adapters/net/digest.h"

#include <openssl/evp.h>

#include <array>

#include "core/result.h"

namespace hostler::net {

std::string OpenSslDigest::sha256(std::string_view text) const {
    std::array<unsigned char, 32> hash{};
    unsigned length = 0;
    HOSTLER_ASSERT(EVP_Digest(text.data(), text.size(), hash.data(), &length, EVP_sha256(), nullptr) == 1);
    std::string hex;
    for (const unsigned char byte : hash) hex += fmt::format("{:02x}", byte);
    return hex;
}

}  // namespace hostler::net

// Fingerprints of secrets and requests.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

class Digest {
public:
    virtual ~Digest() = default;
    virtual std::string sha256(std::string_view text) const = 0;  // 64 hex digits.
};

}  // namespace hostler

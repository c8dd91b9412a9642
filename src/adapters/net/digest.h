// The Digest port by OpenSSL.
#pragma once

#include "ports/digest.h"

namespace hostler::net {

class OpenSslDigest final : public Digest {
public:
    std::string sha256(std::string_view text) const override;
};

}  // namespace hostler::net

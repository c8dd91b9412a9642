// The TokenVerifier port by cjose.
#pragma once

#include "ports/token_verifier.h"

namespace hostler::jose {

// Waits for nothing, and has no state.
class JoseVerifier final : public TokenVerifier {
public:
    Result<VerifiedToken> verify(std::string_view token, std::string_view keys) const override;
};

}  // namespace hostler::jose

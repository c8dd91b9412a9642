// Certificates of the simulation: text that says what a real one does, signed by a hash. Nobody forges them
// in it.
#pragma once

#include "adapters/sim/dice.h"
#include "core/stream.h"
#include "ports/authority.h"
#include "ports/digest.h"

namespace hostler::sim {

std::string hash_hex(std::string_view text);  // 64 hex digits.

class SimDigest final : public hostler::Digest {
public:
    std::string sha256(std::string_view text) const override { return hash_hex(text); }
};

class SimAuthority final : public Authority {
public:
    explicit SimAuthority(Dice dice);
    Result<SignedCertificate> sign(std::string csr_pem, Identity identity, ServerNames names,
                                   WallTime not_before, Duration lifetime) override;
    Result<CertificateFacts> check(std::string certificate_pem) const override;
    Result<std::string> key_fingerprint(std::string csr_pem) const override;
    Result<std::string> sign_text(std::string_view text) const override;
    Result<> check_text(std::string_view text, const std::string& signature,
                        const std::string& certificate_pem, const std::string& fingerprint) const override;
    std::string certificate() const override;
    std::string fingerprint() const override;
    std::vector<AuthorityFacts> all() const override;
    Result<> add(WallTime now) override;
    Result<> keep(std::vector<std::string> kept, std::string issuing) override;

private:
    struct Root {
        std::string certificate;
        std::string follows;  // Its certificates are good for who believes the one of this fingerprint, too.
        WallTime not_before;
    };
    Dice dice_;
    std::vector<Root> roots_;  // The oldest first.
    std::size_t issuing_ = 0;
};

class SimKeys final : public Keys {
public:
    explicit SimKeys(Dice dice) : dice_(dice) {}
    Result<KeyRequest> make(Identity identity) override;
    Result<KeyRequest> renew(std::string key_pem, Identity identity) override;
    Result<CertificateFacts> read(std::string certificate_pem) const override;
    Result<std::vector<std::string>> fingerprints(std::string authorities_pem) const override;

private:
    Dice dice_;
};

// A key and a certificate for it, as a role is given them at its installation.
Credentials issue(Authority& authority, Keys& keys, const Identity& identity, WallTime not_before,
                  Duration lifetime);

// Whether a certificate is signed by one of these authorities, or by one that follows it.
bool signed_by(const std::string& certificate, const std::string& authorities);
std::string public_part(const std::string& key);  // What a certificate holds of a key.

}  // namespace hostler::sim

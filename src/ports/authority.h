// Who is who: keys, and the authority that vouches for them. Every certificate names one role and one
// identity.
#pragma once

#include <string>

#include "core/result.h"
#include "core/timers.h"

namespace hostler {

// "host" "h-4f2a": in certificates the URI hostler://host/h-4f2a, on a stream (core/stream.h) "host/h-4f2a".
struct Identity {
    std::string role;
    std::string id;
    std::string text() const { return role + "/" + id; }
    bool operator==(const Identity&) const = default;
};

// What a certificate says. Nothing here is proof that an authority signed it.
struct CertificateFacts {
    Identity identity;
    std::string serial;       // Hex.
    std::string fingerprint;  // SHA-256 of the certificate, hex.
    std::string
        key_fingerprint;  // SHA-256 of its public key, hex: the same after a renewal with the same key.
    WallTime not_before;
    WallTime not_after;
};

struct SignedCertificate {
    std::string certificate;  // PEM.
    CertificateFacts facts;
};

// A new private key and the request to have it signed. The request proves that its sender holds the key.
struct KeyRequest {
    std::string key_pem;
    std::string csr_pem;
};

// What a role that joins does for itself.
class Keys {
public:
    virtual ~Keys() = default;
    virtual Result<KeyRequest> make(Identity identity) = 0;
    // For a renewal: the same key, asked for again. Errors: invalid (not a key).
    virtual Result<KeyRequest> renew(std::string key_pem, Identity identity) = 0;
    // Errors: invalid: not a certificate, or one that does not name exactly one identity.
    virtual Result<CertificateFacts> read(std::string certificate_pem) const = 0;
    // SHA-256 of an authority's certificate, to compare with the one in a join token. Errors: invalid.
    virtual Result<std::string> fingerprint(std::string certificate_pem) const = 0;
};

// The master's certificate authority.
class Authority {
public:
    virtual ~Authority() = default;
    // Takes nothing but the public key from the request; role and id are ours to say. Errors: invalid: the
    // request is not signed by its own key, the key is of a kind or size we do not accept, the identity has
    // odd characters.
    virtual Result<SignedCertificate> sign(std::string csr_pem, Identity identity, WallTime not_before,
                                           Duration lifetime) = 0;
    // Of a certificate that we signed, expired or not. Errors: unauthenticated: we did not; invalid.
    virtual Result<CertificateFacts> check(std::string certificate_pem) const = 0;
    // Of the key that a request is for, as in CertificateFacts. Errors: invalid, as for sign().
    virtual Result<std::string> key_fingerprint(std::string csr_pem) const = 0;
    virtual std::string certificate() const = 0;  // PEM: what others put into Credentials::authority.
    virtual std::string fingerprint() const = 0;  // SHA-256 of it, hex: goes into join tokens.
};

}  // namespace hostler

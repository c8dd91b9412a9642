// Who is who: keys, and the authority that vouches for them. Every certificate names one role and one
// identity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/server_names.h"
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
    std::string authority{};  // Who signed it: that one's fingerprint. Known to Authority alone.
    ServerNames names{};      // Beside the identity, for clients that verify host names.
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
    // SHA-256 of each authority's certificate in it, to compare with the one in a join token. Errors:
    // invalid.
    virtual Result<std::vector<std::string>> fingerprints(std::string authorities_pem) const = 0;
};

// One of those that a master's authority consists of: there are two while one follows the other.
struct AuthorityFacts {
    std::string fingerprint;  // SHA-256 of its certificate, hex.
    std::string name;
    std::string certificate;  // PEM.
    WallTime not_before;
    WallTime not_after;
    bool issues = false;  // It signs what is asked for; the other is believed, and no more.
};

// The master's certificate authority. What the newer of two signs is believed also by who knows the older one
// alone.
class Authority {
public:
    virtual ~Authority() = default;
    // Takes nothing but the public key from the request; role, id and names are ours to say. Errors: invalid:
    // the request is not signed by its own key, the key is of a kind or size we do not accept, the identity
    // has odd characters, a name cannot be one.
    virtual Result<SignedCertificate> sign(std::string csr_pem, Identity identity, ServerNames names,
                                           WallTime not_before, Duration lifetime) = 0;
    // Of a certificate that one of ours signed, expired or not. Errors: unauthenticated: none did; invalid.
    virtual Result<CertificateFacts> check(std::string certificate_pem) const = 0;
    // Of the key that a request is for, as in CertificateFacts. Errors: invalid, as for sign().
    virtual Result<std::string> key_fingerprint(std::string csr_pem) const = 0;
    // A signature, base64, by the key of the one that issues. Texts begin with words of their own, so that no
    // certificate is among them.
    virtual Result<std::string> sign_text(std::string_view text) const = 0;
    // Whether the key of this certificate has signed the text, and this is its fingerprint; whose certificate
    // it is, is not asked. Errors: unauthenticated: it is not so; invalid: no certificate.
    virtual Result<> check_text(std::string_view text, const std::string& signature,
                                const std::string& certificate_pem, const std::string& fingerprint) const = 0;
    // PEM, the oldest first: what others put into Credentials::authority.
    virtual std::string certificate() const = 0;
    virtual std::string fingerprint() const = 0;  // Of the oldest: goes into join tokens.

    // ── One follows the other. What these change is durable when they return.
    virtual std::vector<AuthorityFacts> all() const = 0;  // The oldest first.
    // Makes one beside the one that there is, which goes on issuing; nothing, when there are two. For masters
    // themselves the newer one signs from here on. Errors: unavailable.
    virtual Result<> add(WallTime now) = 0;
    // Gives up all but `kept`, and issues with `issuing`, which is among them. Errors: not_found: its key is
    // not here; unavailable.
    virtual Result<> keep(std::vector<std::string> kept, std::string issuing) = 0;
};

}  // namespace hostler

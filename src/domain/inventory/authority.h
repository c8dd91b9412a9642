// Who signs certificates, while one authority follows another, and who still stands on the former.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/object.h"

namespace hostler {

// next: believed, and signs for masters alone; issuing: signs; outgoing: believed, and signs no more;
// withdrawn: nobody's any more.
enum class AuthorityPhase { next, issuing, outgoing, withdrawn };
BOOST_DESCRIBE_ENUM(AuthorityPhase, next, issuing, outgoing, withdrawn)

// There are none before the first rotation. Keys are in the authority's file alone.
struct AuthorityRecord {
    std::string fingerprint;  // SHA-256 of its certificate, hex.
    AuthorityPhase phase = AuthorityPhase::issuing;
    std::int64_t since = 0;  // Microseconds since 1970.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(AuthorityRecord, (), (fingerprint, phase, since))

// What a host, an access point or a gateway has said to hold since a rotation began.
struct CertificateHolder {
    std::string name;       // "host/h-4f2a"
    std::string authority;  // Who signed its certificate: a fingerprint.
    std::string believes;   // SHA-256 of the authorities that it believes, hex.
    std::int64_t told_at = 0;
    std::string key;  // SHA-256 of its public key, hex.
    std::string
        refused_key;  // The last that asked in its name for a certificate of the new authority in vain,
    std::int64_t refused_at = 0;  // and when.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(CertificateHolder, (),
                      (name, authority, believes, told_at, key, refused_key, refused_at))

// The keys that an operator gave an access point or gateway: SHA-256, hex, the newest last.
struct AdmittedKeys {
    static constexpr std::size_t keys_max = 64;  // The oldest goes.
    std::string name;                            // "gateway/gw-1"
    std::vector<std::string> keys;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(AdmittedKeys, (), (name, keys))

}  // namespace hostler

// The keys that operators gave access points and gateways.
#pragma once

#include <string>
#include <vector>

namespace hostler {

// That an operator had a certificate made for this key, where the authority's keys lie.
struct IssuedKey {
    std::string name;             // "gateway/gw-1"
    std::string key_fingerprint;  // As in CertificateFacts.
    bool operator==(const IssuedKey&) const = default;
};

class IssuedKeys {
public:
    virtual ~IssuedKeys() = default;
    virtual std::vector<IssuedKey> all() const = 0;  // The oldest first; what cannot be read is not there.
};

}  // namespace hostler

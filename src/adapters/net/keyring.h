// The authority's keys as they lie in its file: of one authority, or of two while one follows the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/net/certificate.h"
#include "core/random.h"

namespace hostler::net {

struct Root {
    KeyPtr key;
    X509Ptr certificate;
    X509Ptr crossed;  // Its key, signed by the one before it; null: there was none.
};

// PEM: the one that issues stands first, with key, certificate and crossed certificate; so releases that know
// one alone read that.
struct Keyring {
    std::vector<Root> roots;  // The oldest first; one or two.
    std::size_t issuing = 0;

    const Root& issuer() const { return roots[issuing]; }
    const Root& newest() const { return roots.back(); }
    std::string text() const;
};

// Errors: invalid: not a file of ours, or keys and certificates that do not go together.
Result<Keyring> parse_keyring(std::string_view text);

// `before`: who issues until now; null: nobody. Both have the same name, so that a certificate of the new
// one, shown with `crossed`, is believed by who knows the old one alone, whose path length is zero: who has
// issued to itself is not counted (RFC 5280, 6.1; RFC 4210, 4.4 calls it "new with old").
Root new_root(Random& random, WallTime now, const Root* before = nullptr);

}  // namespace hostler::net

// Which keys access points and gateways have by an operator's doing. Whoever has a former authority's key
// certifies any; who has none of these gets nothing of the authority that follows it.
#pragma once

#include "roles/master/state/desk.h"
#include "roles/master/state/ports.h"

namespace hostler::master {

// What `hostler ca issue` has made here, from here on known in the store, to every master.
void learn_issued(Desk& desk, const Ports& ports);
// `name`: "gateway/gw-1"; `key`: SHA-256 of the public key, hex.
void admit_key(Desk& desk, const std::string& name, const std::string& key);
bool is_admitted(const Estate& estate, const std::string& name, const std::string& key);
// Whether `present` may be followed by one of who issues: always one of the same authority, else one whose
// key is admitted. Who is refused is told of. Errors: forbidden: key_unknown.
Result<> may_follow(Desk& desk, const Ports& ports, const CertificateFacts& present);

// While a rotation is under way: in whose name an unknown key was shown, and what to do, in words for people.
// Empty: there is nothing to say.
std::string unknown_key_words(const Estate& estate, const std::string& name);

}  // namespace hostler::master

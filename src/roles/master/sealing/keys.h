// Which key seals what is secret in the store, and how another takes its place. The store has the names and
// the step, the ring (ports/sealer.h) has the keys.
#pragma once

#include "ports/sealer.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Before the rest is loaded: whether the keys are here that the store was sealed with. Errors: conflict
// (sealing_key_missing), naming those that are not; unavailable, invalid: the ring.
Result<> find_sealing_keys(const std::vector<Object>& objects, Sealer& sealer);
// The same for a master that follows: what it would lack, "k-1, k-2"; empty: nothing.
std::string missing_sealing_keys(const std::vector<Object>& objects, const Sealer& sealer);

// When a term begins: the first key is the one that is here, or is made. Errors: those of Sealer::make().
Result<> agree_on_sealing(Desk& desk, Sealer& sealer);

// Each may be repeated: what is so already stays so. The key is in the ring when begin returns: one that the
// store does not name is no harm. Errors: those of Sealer::make().
Result<> begin_sealing_rotation(Desk& desk, Sealer& sealer);
// From here on it seals. Errors: conflict: rotation_not_begun, sealing_key_missing; those of Sealer::read().
Result<> finish_sealing_rotation(Desk& desk, Sealer& sealer);
// Errors: not_found; conflict: sealing_key_in_use: it is the current one, or secrets are sealed by it, or
// that has not been counted yet.
Result<> forget_sealing_key(Desk& desk, const std::string& key);

}  // namespace hostler::master

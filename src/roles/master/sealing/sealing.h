// Seals by the current key what lies in the store otherwise, while a term lasts.
#pragma once

#include "roles/master/http/api.h"

namespace hostler::master {

class Term;

inline constexpr std::size_t reseal_batch =
    100;  // Objects looked at, and sealed anew at most, in one commit.
inline constexpr Duration reseal_pause = std::chrono::hours{1};  // Between two looks at the whole store.

// In the term's tasks: what other keys have sealed, or nobody, and takes keys that the store calls forgotten
// out of the ring.
void start_sealing(Term& term);

// What a master that follows says in its log if it could not lead for want of a key. Errors: cancelled.
Task<> warn_of_missing_keys(Ports ports, const Lead& lead);

}  // namespace hostler::master

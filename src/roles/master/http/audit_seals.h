// How far the chain of the audit was, signed by the authority: what is cut off before that is missed.
#pragma once

#include "ports/audit_chain.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

// Each second, and first as a term begins: seals the last line, unless that was done within the hour or the
// line is sealed already. Says once a term when the store has less than was sealed.
void seal_audit(Term& term, Desk& desk);

// The position of the last line that is sealed, as this term knows.
std::uint64_t sealed_position(Term& term);

// Whether a seal is by an authority of this cloud, or by one that was withdrawn since.
SealCheck seal_check(const Desk& desk, const Ports& ports);

}  // namespace hostler::master

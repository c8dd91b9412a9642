// The keys of the authority follow what the store says of them, while a term lasts.
#pragma once

#include "roles/master/leader/term.h"

namespace hostler::master {

// By level: whoever does not yet stand on the keys as it should is asked to renew its certificate, a part of
// them at a time.
void rotate(Term& term);
// This one was asked in vain a moment ago, and is asked once more.
void ask_to_renew_again(Term& term, const std::string& name);

}  // namespace hostler::master

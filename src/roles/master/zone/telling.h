// What access points and the hosts behind them are told, while a term lasts.
#pragma once

#include "roles/master/leader/term.h"

namespace hostler::uplink {
class AccessList;
}

namespace hostler::master {

// By level: whoever has not the list of access points as it is now gets it, a part of them at a time.
void tell_access(Term& term);
// As agents are told; the host has it from now on.
const uplink::AccessList& access_list_for(Term& term, const std::string& host);
// By level: access points that do not know that they drain, or drain no more.
void tell_drains(Term& term);

}  // namespace hostler::master

// Who may enter an instance: by a terminal, a command, a port, with files.
#pragma once

#include "roles/master/term.h"

namespace hostler::uplink {
class EnterAnswer;
class EnterEnded;
class EnterRequest;
}  // namespace hostler::uplink

namespace hostler::master {

// Writes down who enters, what for and from where; commit before it is told. Errors: unauthenticated,
// forbidden (tenant_differs), not_found (also another tenant's instance), conflict (not_running, ambiguous).
Result<> enter_instance(Term& term, const uplink::EnterRequest& request, uplink::EnterAnswer& into);
void note_entered(Term& term, const uplink::EnterEnded& ended);

}  // namespace hostler::master

// Who may enter an instance: by a terminal, a command, a port, with files.
#pragma once

#include "roles/master/http/audit.h"
#include "roles/master/leader/term.h"

namespace hostler::uplink {
class EnterAnswer;
class EnterEnded;
class EnterRequest;
}  // namespace hostler::uplink

namespace hostler::master {

// What the gateway's page about an instance asks on behalf of somebody who is signed in: how it is, in words,
// or to start it again; to be committed by the caller. Errors: unauthenticated, not_found, conflict,
// exhausted.
bool is_of_page(const uplink::EnterRequest& request);
Result<> answer_page(Term& term, const uplink::EnterRequest& request, uplink::EnterAnswer& into);

// Whether sessions in it can be opened now. Errors: forbidden (disabled), conflict (not_running).
Result<> check_enterable(const Desk& desk, const api::Call& call, const Instance& instance);

// Writes down who enters, what for and from where; commit before it is told. A ticket is used up by it.
// Errors: unauthenticated (key_unknown, ticket_unknown), forbidden (tenant_differs), not_found (also another
// tenant's instance), conflict (not_running, ambiguous).
Result<> enter_instance(Term& term, const uplink::EnterRequest& request, uplink::EnterAnswer& into);
void note_entered(Term& term, const uplink::EnterEnded& ended);

}  // namespace hostler::master

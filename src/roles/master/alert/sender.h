// One message to one receiver, as that one wants it.
#pragma once

#include "domain/alert/plan.h"
#include "roles/master/state/ports.h"

namespace hostler::master {

// `link`: where a person looks at alerts. Errors: those of Outgoing; unavailable: it answered with an error.
Task<> send_notice(Ports ports, alert::Receiver receiver, alert::Delivery delivery, std::string link);

}  // namespace hostler::master

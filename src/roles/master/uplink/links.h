// The master's end of the uplink: access points with the hosts behind them, and gateways.
#pragma once

#include "roles/master/leader/term.h"

namespace hostler::uplink {
class Frame;
}

namespace hostler::master {

// One connection, already secured, to its end. Who is at the other end decides what it may say: "access/…" or
// "gateway/…"; anyone else is refused.
Task<> serve_link(TermPtr term, StreamPtr stream);

// A renewal for the access point or gateway at the other end: of its own identity, for the key that it holds.
Task<> answer_renewal(TermPtr term, wire::Link& link, uplink::Frame request);

Task<> serve_access(TermPtr term, wire::Link& link, std::string name);
Task<> serve_gateway(TermPtr term, wire::Link& link, std::string name);

}  // namespace hostler::master

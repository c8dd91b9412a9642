// Loss policy `move`: an instance whose host is silent is begun anew on another one, once it has surely
// stopped where it was. What it held there is held until that host says so.
#pragma once

#include "roles/master/command/commands.h"

namespace hostler::master {

// Moves what may move by now. By level: every second, `now` on the clock of HostLive::heard.
void follow_moves(Desk& desk, Instant now);

// One of loss policy `move` that was stopped for a drain finds a place on another host, unless its volumes
// lie where it was. By level, every second.
void go_on_elsewhere(Desk& desk, const std::string& instance);

// What runs with a lease there: the host may go on with it.
std::vector<std::pair<std::string, std::uint64_t>> leases_on(const Desk& desk, const std::string& host);

// In words: what becomes of it now that its host is lost.
std::string lost_with(const Desk& desk, const std::string& instance);

}  // namespace hostler::master

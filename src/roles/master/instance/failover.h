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

// It is to begin anew where it is: it was stopped there for want of our word.
void begin_anew(Desk& desk, const std::string& instance);

// Whether its host can be trusted to stop it, and has nothing of an earlier run. Always, if it does not move.
bool may_run_at(const Desk& desk, const Instance& instance, const std::string& host);

// What runs with a lease there: the host may go on with it.
std::vector<std::pair<std::string, std::uint64_t>> leases_on(const Desk& desk, const std::string& host);

// In words: what becomes of it now that its host is lost.
std::string lost_with(const Desk& desk, const std::string& instance);

// A host that is back is told to stop what moved away from it; with its answer what was held there is free.
void reconcile_left(Desk& desk, const std::string& host);
void note_left(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void forget_left(Desk& desk, const std::string& host);  // It was removed.

// The subject of its command, and back.
std::string left_subject(const std::string& instance, const std::string& host);
std::string left_instance(const std::string& subject);

}  // namespace hostler::master

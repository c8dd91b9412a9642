// No job starves: the one that has waited longest gets the room of a host, when that is free.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// At the end of a round: `oldest` is the job without room that has waited longest; null: there is none. Its
// room is that of a host whose tasks are over first by their time limits. Where no limits free any, and it
// has waited for long, it is that of the host that has most free.
void reserve_room(Desk& desk, const Job* oldest);

// An element of the job has begun on this host.
void note_backfill(Desk& desk, const Job& job, const std::string& host);

}  // namespace hostler::master

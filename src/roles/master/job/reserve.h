// No job starves: the one that has waited longest gets the room of a host, when that is free.
#pragma once

#include "domain/order/reservation.h"
#include "domain/scheduler/place.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// At the end of a round: `oldest` is the job without room that has waited longest; null: there is none. Its
// room is that of a host whose tasks are over first by their time limits. Where no limits free any, and it
// has waited for long, it is that of the host that has most free.
void reserve_room(Desk& desk, const Job* oldest);

// Running tasks of jobs that end by a time limit, on hosts whose GPUs this demand takes, and what it finds
// free on these hosts. A bounded number of them, those that end first.
struct Endings {
    std::vector<Ending> all;
    std::map<std::string, Amount> free;
};
Endings endings_for(const Desk& desk, const Demand& demand);
// What the demand finds free on a host.
Amount free_for(const Demand& demand, const Candidate& there);

// An element of the job has begun on this host.
void note_backfill(Desk& desk, const Job& job, const std::string& host);

}  // namespace hostler::master

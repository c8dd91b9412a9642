// Running jobs that give way to a waiting one: to one within its guarantee those that borrow, to one of a
// higher priority others of the same user.
#pragma once

#include "domain/order/victims.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Who would give way to the next element of this job, which was refused for want of room, and to which hosts
// it could go then; nullopt: none may, or that would not help.
struct Way {
    std::vector<Victim> victims;  // By their ids in the order.
    std::set<std::string> hosts;
};
std::optional<Way> way_for(const Desk& desk, const Job& job, const std::string& waiting);

// Ends the elements, which are tried again afterwards; the room is kept for the job meanwhile.
void make_way(Desk& desk, const std::string& job, const Way& way);

// Elements still end for this job.
bool makes_way(const Desk& desk, const std::string& job);

// By level: rooms that are kept for jobs which have a place by now, are over, or took too long.
void forget_ways(Desk& desk);

// "job train of user/u-1": whose element this is.
std::string words_of(const Desk& desk, const Victim& victim);

}  // namespace hostler::master

// Preemption. A job within the guarantee of its queue preempts jobs of queues that borrow; a job of a higher
// priority preempts other jobs of the same user.
#pragma once

#include "domain/order/victims.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// The victims whose end makes room for the next element of this job, and the hosts that take it then;
// nullopt: no job may be preempted for it, or that makes no room.
struct Way {
    std::vector<Victim> victims;  // By their ids in the order.
    std::set<std::string> hosts;
};
std::optional<Way> way_for(const Desk& desk, const Job& job, const std::string& waiting);

// false: way_for() has none. At little cost.
bool may_preempt(const Desk& desk, const Waiting& claimant);

// Ends the elements, which are tried again afterwards; the room is kept for the job meanwhile.
void make_way(Desk& desk, const std::string& job, const Way& way);

// Elements still end for this job.
bool makes_way(const Desk& desk, const std::string& job);
std::set<std::string> jobs_with_ways(const Desk& desk);

// By level: rooms that are kept for jobs which have a place by now, are over, or took too long.
void forget_ways(Desk& desk);

// "job train of user/u-1": whose element this is.
std::string words_of(const Desk& desk, const Victim& victim);

}  // namespace hostler::master

// The place of an instance: its claim, its subnet and address, from its start until nothing of it runs.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Who wants an instance to run. Quotas and policies refuse callers; what the master moves has
// its share already, and of the policies zones and trust alone count for it.
enum class WantedBy { caller, master };

// From stock if there is some, else directly. The claim is taken at once, so that quotas hold whatever is
// asked at the same time. Errors: conflict (insufficient_capacity, placement_impossible), exhausted
// (quota_exceeded).
Result<> give_place(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                    WantedBy by);

// Why quotas would refuse to start this one, which holds no place; nullopt: they would not.
std::optional<Error> quota_against_start(const Desk& desk, const Instance& instance);

// Finds a place for one that has none: claim, subnet and address, where its volumes are or come to be. All or
// nothing. Errors: conflict (insufficient_capacity, volume_in_use, no_subnet), exhausted (quota_exceeded).
Result<> settle(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                WantedBy by);

// Finds addresses where its claim is. Errors: conflict (no_subnet); then the place is given back.
Result<> move_in(Desk& desk, Instance& instance);

// Nothing of it runs any more: claim, slot and subnet are free.
void let_go(Desk& desk, const std::string& id);

}  // namespace hostler::master

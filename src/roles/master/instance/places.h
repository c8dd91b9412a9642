// Places for instances: a slot of the stock, or room on a host.
#pragma once

#include <string>

#include "roles/master/state/desk.h"

namespace hostler::master {

// Who wants an instance to run. Quotas refuse callers; what the master moves has its share already.
enum class WantedBy { caller, master };

// From stock if there is some, else directly. The claim is taken at once, so that quotas hold whatever is
// asked at the same time. Errors: conflict (insufficient_capacity, placement_impossible), exhausted
// (quota_exceeded).
Result<> give_place(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                    WantedBy by);

// Why quotas would refuse to start this one, which holds no place; nullopt: they would not.
std::optional<Error> quota_against_start(const Desk& desk, const Instance& instance);

}  // namespace hostler::master

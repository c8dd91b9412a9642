// Idle stock that gives way to instances, as the policy of its spec says.
#pragma once

#include "roles/master/scheduler/room.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct UpdateStock;
}  // namespace hostler::api

namespace hostler::master {

// What is not given stays. Errors: not_found (spec).
Result<> update_stock(Desk& desk, const api::UpdateStock& request);

// Slots that an instance could be in now, and how many of each spec may go: of those that stand ready, what
// is more than is kept.
IdleStock idle_stock(const Desk& desk);

// The slots of these claims lose their places to the instance, and wait for others. To be called before it
// claims.
void give_way(Desk& desk, const std::vector<std::string>& claims, const Instance& to);
// The same for whatever has this id; `words`: how people know it.
void give_way(Desk& desk, const std::vector<std::string>& claims, const std::string& to,
              const std::string& words);

}  // namespace hostler::master

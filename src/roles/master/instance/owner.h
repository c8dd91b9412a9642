// Instances of a job or a service. The feature of the owner creates them with create_instance(), and changes
// and deletes them. A caller changes or deletes the owner.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Operation;
}  // namespace hostler::api

namespace hostler::master {

std::string text_of(const Owner& owner);  // "job j-7k2m9x"

// Refuses a caller's operation that changes, stops or deletes an instance that has an owner. Reads,
// terminals, share links and keep-alive are allowed. Operations on hosts (drain, consolidation, failover,
// removal) do not call this. An instance that its owner has deleted is treated as one without an owner.
// Errors: conflict (owned).
Result<> check_owner(const Instance& instance, const api::Operation& operation);

// Deletes all instances of this owner that are in memory. The caller commits this together with the deletion
// of the owner. Archived instances hold no name and no resources.
void delete_owned(Desk& desk, const Owner& owner);

}  // namespace hostler::master

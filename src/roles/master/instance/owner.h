// Instances that are parts of something, as a job or a service. The feature of their owner makes them with
// create_instance(), and changes and deletes them; a caller does that to the owner.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Operation;
}  // namespace hostler::api

namespace hostler::master {

std::string text_of(const Owner& owner);  // "job j-7k2m9x"

// The rule of what a caller may do with an instance that has an owner: use it, by all that reads it or enters
// it, by share links and by keep-alive; but not change, stop or delete it. What an operator does to a host
// (drain, consolidation, failover, removal) does not ask. Once its owner has deleted it, it is as any other.
// Errors: conflict (owned).
Result<> check_owner(const Instance& instance, const api::Operation& operation);

// Deletes all of this owner that are in memory, to be committed by the caller with what it does to the owner:
// none outlives it. Those in the archive have no name and no place to give back.
void delete_owned(Desk& desk, const Owner& owner);

}  // namespace hostler::master

// An instance that ended by itself: its owner may change what it was made of, and let it begin once more.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct UpdateInstance;
}  // namespace hostler::api

namespace hostler::master {

// Finds it a place, where its volumes lie, under its name and id. What lives is left alone. Errors: conflict
// (instance_ended, instance_stopping, not_running, and those of wake_instance()).
Result<> retry_instance(Desk& desk, const std::string& id);

// Image, command, variables and ports, of one that is stopped or may be repaired; what is not given stays.
// Errors: invalid, conflict (instance_ended, still_runs, instance_adopted, no_gateway_port).
Result<> change_container(Desk& desk, const std::string& id, const api::UpdateInstance& request);

}  // namespace hostler::master

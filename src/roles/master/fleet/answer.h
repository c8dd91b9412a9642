// The fleet map as the API tells it.
#pragma once

#include "api/handlers.h"
#include "api/types_fleet.h"
#include "roles/master/fleet/fleet_map.h"

namespace hostler::master {

// `epoch`: of the term whose map it is; cursors of others ask for everything. Errors: invalid (a value is
// unknown or named twice, or the cursor is none), forbidden (tenants are not the caller's to see).
Result<api::Fleet> fleet_answer(const FleetMap& map, const api::Call& call, const api::GetFleet& request,
                                std::uint64_t epoch, WallTime now);

}  // namespace hostler::master

// Zones.
#pragma once

#include "api/types_zone.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// What is not given stays.
void update_zone(Desk& desk, const std::string& name, const api::UpdateZone& request);

}  // namespace hostler::master

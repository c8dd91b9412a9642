// Zones.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct UpdateZone;
}

namespace hostler::master {

// What is not given stays.
void update_zone(Desk& desk, const std::string& name, const api::UpdateZone& request);

}  // namespace hostler::master

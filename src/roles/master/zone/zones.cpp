#include "roles/master/zone/zones.h"

#include "api/types_zone.h"

namespace hostler::master {

void update_zone(Desk& desk, const std::string& name, const api::UpdateZone& request) {
    Zone& zone = desk.estate.zones.edit(name);
    if (request.location) zone.place = *request.location;
    if (request.coordinates) zone.spot = parse_spot(*request.coordinates).value_or(Spot{});
    desk.estate.event("zone", name, "", "described", "Where it is was changed.");
}

}  // namespace hostler::master

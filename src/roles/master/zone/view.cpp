#include "roles/master/zone/view.h"

#include "api/types_zone.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/views.h"
#include "roles/master/zone/access_points.h"

namespace hostler::master {

api::Zone view(const Desk& desk, const Zone& zone) {
    api::Zone shown;
    shown.name = zone.name;
    shown.location = zone.place;
    if (zone.spot) shown.coordinates = to_string(*zone.spot);
    shown.created_at = wall(zone.created_at);
    for (const auto& [id, access] : desk.estate.access_points.all())
        if (access.zone == zone.name) ++shown.access_points;
    for (const Host* host : desk.estate.hosts.by().zone.of(zone.name)) {
        ++shown.hosts;
        shown.gpus += static_cast<int>(host->facts.gpus.size());
    }
    for (const auto& [id, there] : room(desk).hosts())
        if (there.free.zone == zone.name && there.free.unavailable.empty())
            shown.gpus_free += static_cast<int>(there.free.gpus.size());
    return shown;
}

api::AccessPoint view(const Desk& desk, const AccessPoint& access) {
    api::AccessPoint shown;
    shown.id = access.name;
    shown.zone = access.zone;
    shown.address = access.uplink_address;
    if (const auto live = desk.live.access_points.find(access.name); live != desk.live.access_points.end()) {
        shown.version = live->second.version;
        if (!live->second.connected) shown.seen_at = wall_if(live->second.seen_at);
        shown.tunnels = static_cast<int>(live->second.tunnels);
        shown.banned = static_cast<int>(live->second.banned);
    }
    shown.state = state_of(desk, access);
    const AccessUse use = use_of(desk, access);
    shown.hosts = use.hosts;
    shown.standbys = use.standbys;
    shown.load_percent = use.load_percent;
    return shown;
}

api::HostToken view(const HostToken& token) {
    api::HostToken shown{.id = token.id,
                         .zone = token.zone,
                         .provider = token.owner,
                         .created_at = wall(token.created_at),
                         .expires_at = wall(token.expires_at)};
    shown.used_at = wall_if(token.used_at);
    if (!token.host.empty()) shown.host = token.host;
    return shown;
}

}  // namespace hostler::master

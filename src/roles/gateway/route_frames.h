// Routes as they go over the wire, and as they are kept.
#pragma once

#include <optional>

#include "roles/gateway/route.h"

namespace hostler::uplink {
class Route;
}

namespace hostler::gateway {

Route read_route(const uplink::Route& from);
std::optional<Route> route_of(const uplink::Route& from);  // nullopt: nothing that could be served.
void write_route(const Route& route, uplink::Route& into);

}  // namespace hostler::gateway

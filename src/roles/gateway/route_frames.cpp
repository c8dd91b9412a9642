#include "roles/gateway/route_frames.h"

#include "proto/uplink.pb.h"

namespace hostler::gateway {

Route read_route(const uplink::Route& from) {
    return Route{.name = from.name(),
                 .own_port = static_cast<std::uint16_t>(from.own_port()),
                 .tenant = from.tenant(),
                 .instance = from.instance(),
                 .generation = from.generation(),
                 .port = static_cast<std::uint16_t>(from.port()),
                 .open_to_all = from.open_to_all(),
                 .state = state_of(from.state()),
                 .detail = from.detail(),
                 .host = from.host(),
                 .access = {from.access().begin(), from.access().end()},
                 .shown_as = from.shown_as(),
                 .project = from.project()};
}

std::optional<Route> route_of(const uplink::Route& from) {
    if (from.name().empty() || from.instance().empty() || from.port() == 0 || from.port() > 65535 ||
        from.own_port() > 65535)
        return std::nullopt;
    return read_route(from);
}

void write_route(const Route& route, uplink::Route& into) {
    into.set_name(route.name);
    into.set_own_port(route.own_port);
    into.set_tenant(route.tenant);
    into.set_instance(route.instance);
    into.set_generation(route.generation);
    into.set_port(route.port);
    into.set_open_to_all(route.open_to_all);
    into.set_state(std::string{text_of(route.state)});
    into.set_detail(route.detail);
    into.set_host(route.host);
    for (const std::string& address : route.access) into.add_access(address);
    into.set_shown_as(route.shown_as);
    into.set_project(route.project);
}

}  // namespace hostler::gateway

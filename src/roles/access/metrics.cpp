#include "roles/access/access.h"

namespace hostler::access {

using enum MetricsPage::Type;

void Access::write_metrics(MetricsPage& page) const {
    const Counters now = counters();
    std::size_t up = 0, down = 0;
    for (const auto& [number, session] : relay_.all()) up += session->up_bytes, down += session->down_bytes;
    page.add("hostler_access_linked", "1: connected to a master.", gauge, int{linked()});
    page.add("hostler_access_draining", "1: it takes no new agents.", gauge, int{relay_.draining()});
    page.add_bounded("hostler_access_sessions", "Agents connected.", now.sessions, settings_.sessions_max);
    page.add("hostler_access_session_host_max", "Connections that one host may have.", gauge,
             settings_.sessions_per_host_max);
    page.add("hostler_access_up_bytes", "From agents, waiting for the master.", gauge, up);
    page.add("hostler_access_down_bytes", "From the master, waiting for agents.", gauge, down);
    page.add("hostler_access_up_bytes_session_max", "The bound of each agent's.", gauge,
             settings_.session_up_bytes_max);
    page.add("hostler_access_down_bytes_session_max", "The bound of each agent's.", gauge,
             settings_.session_down_bytes_max);
    page.add_bounded("hostler_access_handshakes", "Connections that have not yet said who they are.",
                     uplink_.handshakes(), settings_.handshakes_max);
    page.add_bounded("hostler_access_joins", "Hosts that join or renew at the moment.", uplink_.visits(),
                     settings_.joins_max);
    page.add_bounded("hostler_access_gateways", "Gateways connected.", control_.gateways(),
                     settings_.gateways_max);
    page.add_bounded("hostler_access_tickets", "Tunnels being opened.", tunnels_.tickets(),
                     settings_.tickets_max);
    page.add_bounded("hostler_access_tunnels", "Open tunnels.", now.tunnels_open, settings_.tunnels_max);
    page.add("hostler_access_tunnels_host_max", "Open tunnels that one host may have.", gauge,
             settings_.tunnels_per_host_max);
    page.add_bounded("hostler_access_tunnel_greetings", "Tunnel connections that have shown no ticket yet.",
                     tunnels_.greetings(), settings_.tunnel_greetings_max);
    page.add_bounded("hostler_access_guarded_addresses", "Addresses with counted faults.", guard_.size(),
                     settings_.guarded_max);
    page.add("hostler_access_banned_addresses", "Addresses that are banned.", gauge, now.banned_addresses);
    page.add("hostler_access_banned_hosts", "Hosts that are banned.", gauge, now.banned_hosts);
    page.begin("hostler_access_tunnels_total", "Tunnels, by how it went.", counter);
    page.value({{"outcome", "opened"}}, now.tunnels.opened);
    page.value({{"outcome", "refused"}}, now.tunnels.refused);
    page.value({{"outcome", "abandoned"}}, now.tunnels.abandoned);
    page.add_bounded("hostler_access_speeds", "Hosts with a running network measurement.",
                     speeds_.under_way(), settings_.speeds_max);
    page.begin("hostler_access_speeds_total", "Measurements of hosts' ways, by how it went.", counter);
    page.value({{"outcome", "measured"}}, now.speeds_measured);
    page.value({{"outcome", "failed"}}, now.speeds_failed);
    page.add("hostler_access_speed_bytes_total", "Sent and received to measure them.", counter,
             speeds_.bytes());
    page.add("hostler_access_tunnel_bytes_total", "Copied by tunnels that have ended, both ways.", counter,
             now.tunnels.bytes);
}

}  // namespace hostler::access

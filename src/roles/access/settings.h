// What an operator may set on an access point. Times are in the unit that the name ends in.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostler::access {

struct Settings {
    std::string zone;
    std::vector<std::string> masters;
    std::string uplink_listen = "0.0.0.0:7441";
    std::string tunnel_listen = "0.0.0.0:7442";
    std::string control_listen = "0.0.0.0:7443";
    std::string uplink_address;
    std::string tunnel_address;
    std::string control_address;

    std::uint32_t sessions_max = 20'000;
    std::uint32_t sessions_per_host_max = 2;
    std::uint32_t handshakes_max = 256;
    std::uint32_t frame_bytes_max = 4 * 1024 * 1024 - 4096;  // Must fit, wrapped, into a frame to the master.
    std::uint32_t frames_per_second = 200;
    std::uint32_t frames_burst = 2'000;
    std::uint32_t bytes_per_second = 4 * 1024 * 1024;
    std::uint32_t bytes_burst = 32 * 1024 * 1024;
    std::uint32_t session_up_bytes_max = 1024 * 1024;
    std::uint32_t session_down_bytes_max = 4 * 1024 * 1024;
    std::uint32_t session_silence_s = 90;
    std::uint32_t write_stall_s = 30;

    std::uint32_t joins_max = 64;
    std::uint32_t joins_per_minute = 30;
    std::uint32_t join_s = 20;

    std::uint32_t faults_burst = 60;
    std::uint32_t faults_per_minute = 60;
    std::uint32_t host_faults_burst = 5;
    std::uint32_t host_sessions_burst = 30;
    std::uint32_t host_sessions_per_minute = 20;
    std::uint32_t ban_s = 60;
    std::uint32_t banned_trickle_per_second = 2;
    std::uint32_t guarded_max = 10'000;

    std::uint32_t gateways_max = 256;
    std::uint32_t tickets_max = 4'096;
    std::uint32_t tickets_per_host_max = 256;
    std::uint32_t ticket_s = 10;
    std::uint32_t tunnels_max = 20'000;
    std::uint32_t tunnels_per_host_max = 2'000;
    std::uint32_t tunnel_greetings_max = 1'024;
    std::uint32_t tunnel_greeting_s = 5;
    std::uint32_t tunnel_idle_s = 24 * 3600;

    std::uint32_t speeds_max = 2;
    std::uint32_t speed_bytes_max = 16 * 1024 * 1024;
    std::uint32_t speed_s = 30;
    std::uint32_t speed_rest_s = 60;

    std::uint32_t master_silence_s = 15;
    std::uint32_t redial_ms = 250;
    std::uint32_t redial_max_ms = 10'000;
};
BOOST_DESCRIBE_STRUCT(Settings, (),
                      (zone, masters, uplink_listen, tunnel_listen, control_listen, uplink_address,
                       tunnel_address, control_address, sessions_max, sessions_per_host_max, handshakes_max,
                       frame_bytes_max, frames_per_second, frames_burst, bytes_per_second, bytes_burst,
                       session_up_bytes_max, session_down_bytes_max, session_silence_s, write_stall_s,
                       joins_max, joins_per_minute, join_s, faults_burst, faults_per_minute,
                       host_faults_burst, host_sessions_burst, host_sessions_per_minute, ban_s,
                       banned_trickle_per_second, guarded_max, gateways_max, tickets_max,
                       tickets_per_host_max, ticket_s, tunnels_max, tunnels_per_host_max,
                       tunnel_greetings_max, tunnel_greeting_s, tunnel_idle_s, speeds_max, speed_bytes_max,
                       speed_s, speed_rest_s, master_silence_s, redial_ms, redial_max_ms))

// Member and help, one row for each.
inline constexpr auto settings_help = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"zone", "The zone in which this access point stands."},
    {"masters", "Addresses of masters' links for access points; tried in turn."},
    {"uplink_listen", "Where agents dial."},
    {"tunnel_listen", "Where both ends of tunnels meet."},
    {"control_listen", "Where gateways ask for tunnels."},
    {"uplink_address", "The uplink as agents reach it; empty: as it listens."},
    {"tunnel_address", "The tunnel port as agents and gateways reach it; empty: as it listens."},
    {"control_address", "The control port as gateways reach it; empty: as it listens."},
    {"sessions_max", "Agents at once."},
    {"sessions_per_host_max", "Connections of one host at once; a newer one ends the oldest."},
    {"handshakes_max", "Connections that have not yet said who they are."},
    {"frame_bytes_max", "A frame of an agent; a larger one ends its session."},
    {"frames_per_second", "Frames that an agent may send in the long run; it is read no faster."},
    {"frames_burst", "Frames that an agent may send at once."},
    {"bytes_per_second", "Bytes that an agent may send in the long run; it is read no faster."},
    {"bytes_burst", "Bytes that an agent may send at once."},
    {"session_up_bytes_max", "Bytes of one agent waiting for the master; then it is read no further."},
    {"session_down_bytes_max", "Bytes waiting for one agent; a slower one is cut off."},
    {"session_silence_s", "Silence after which an agent is disconnected."},
    {"write_stall_s", "Time without progress after which a peer that does not read is disconnected."},
    {"joins_max", "Hosts that join at once."},
    {"joins_per_minute", "Attempts to join from one address."},
    {"join_s", "From the connection of a host that joins to its answer."},
    {"faults_burst", "Failed handshakes, wrong tickets and the like of one address before it is banned."},
    {"faults_per_minute", "How many of them are forgiven in a minute."},
    {"host_faults_burst",
     "Malformed, forbidden or too large frames of one host before it is banned; one is forgiven a minute."},
    {"host_sessions_burst", "Connections that one host may make at once before it is banned."},
    {"host_sessions_per_minute", "Connections that one host may make in the long run."},
    {"ban_s", "How long a ban lasts."},
    {"banned_trickle_per_second",
     "Handshakes let through from a banned address where hosts have proved who they are."},
    {"guarded_max", "Addresses and hosts with counted faults."},
    {"gateways_max", "Connections of gateways at once."},
    {"tickets_max", "Tunnels being opened at once."},
    {"tickets_per_host_max", "Tunnels to one host being opened at once."},
    {"ticket_s", "How long a ticket can be used."},
    {"tunnels_max", "Open tunnels."},
    {"tunnels_per_host_max", "Open tunnels to one host."},
    {"tunnel_greetings_max", "Tunnel connections that have not yet shown a ticket."},
    {"tunnel_greeting_s", "How long a tunnel connection has to show its ticket."},
    {"tunnel_idle_s", "Idle time after which a tunnel is closed."},
    {"speeds_max", "Hosts measured at the same time."},
    {"speed_bytes_max", "The largest piece with which a way is measured; a third more of each way in all."},
    {"speed_s", "How long that may take."},
    {"speed_rest_s",
     "How often each host's way is measured at most, in the long run; twice in a row at most."},
    {"master_silence_s",
     "Silence after which the connection to a master is dropped and dialled again; with several masters 3 "
     "s."},
    {"redial_ms", "First pause before a master is dialled again; doubles, with jitter, up to redial_max_ms."},
    {"redial_max_ms", "Longest pause before a master is dialled again."},
});

}  // namespace hostler::access

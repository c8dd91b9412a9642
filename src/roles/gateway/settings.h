// What an operator may set on a gateway. Times are in the unit that the name ends in.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostler::gateway {

struct Settings {
    std::vector<std::string> masters;
    std::string listen = "0.0.0.0:8443";
    std::string domain = "localhost";
    std::string address;
    std::uint32_t hsts_s = 180 * 24 * 3'600;

    std::uint32_t routes_max = 100'000;
    std::uint32_t connections_max = 10'000;
    std::uint32_t client_connections_max = 2'000;
    std::uint32_t client_requests_max = 1'000;
    std::uint32_t instance_requests_max = 2'000;
    std::uint32_t idle_upstreams_max = 64;
    std::uint32_t idle_upstream_s = 50;

    std::uint32_t first_byte_s = 10;
    std::uint32_t head_s = 10;
    std::uint32_t keep_alive_s = 75;
    std::uint32_t body_s = 60;
    std::uint32_t answer_s = 600;
    std::uint32_t stream_s = 3'600;
    std::uint32_t upgraded_s = 4 * 3'600;

    std::uint32_t verdicts_max = 10'000;
    std::uint32_t refusal_s = 2;
    std::uint32_t recheck_s = 2;
    std::uint32_t outage_trust_s = 12 * 3'600;
    std::uint32_t sign_outs_max = 1'000;
    std::uint32_t questions_per_second = 20;
    std::uint32_t questions_burst = 100;

    std::uint32_t access_links_max = 64;
    std::uint32_t hop_s = 5;
    std::uint32_t master_silence_s = 15;
    std::uint32_t redial_ms = 250;
    std::uint32_t redial_max_ms = 10'000;
};
BOOST_DESCRIBE_STRUCT(Settings, (),
                      (masters, listen, domain, address, hsts_s, routes_max, connections_max,
                       client_connections_max, client_requests_max, instance_requests_max, idle_upstreams_max,
                       idle_upstream_s, first_byte_s, head_s, keep_alive_s, body_s, answer_s, stream_s,
                       upgraded_s, verdicts_max, refusal_s, recheck_s, outage_trust_s, sign_outs_max,
                       questions_per_second, questions_burst, access_links_max, hop_s, master_silence_s,
                       redial_ms, redial_max_ms))

// Member and help, one row for each.
inline constexpr auto settings_help = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"masters", "Addresses of masters' links for gateways; tried in turn."},
    {"listen", "Where browsers and programs connect. Ports of their own open on the same host address."},
    {"domain", "Instances are host names below it; empty: each instance port has a port of the gateway."},
    {"address", "URL of this gateway from outside, as https://gw.example:443; empty: as it listens."},
    {"hsts_s", "With TLS: how long browsers keep to https (HSTS); 0: HSTS is off."},
    {"routes_max", "Instance ports known at once."},
    {"connections_max", "Connections at once; then strangers make room for newcomers."},
    {"client_connections_max", "Connections of one client address, or of one /64 of IPv6, at once."},
    {"client_requests_max", "Requests of one client address under way at once."},
    {"instance_requests_max", "Requests to one instance under way at once."},
    {"idle_upstreams_max", "Tunnels kept open for the next request, for each instance port."},
    {"idle_upstream_s", "How long such a tunnel is kept without a request."},
    {"first_byte_s", "From a connection to the first byte of its first request."},
    {"head_s", "From the first byte of a request to the end of its headers."},
    {"keep_alive_s", "From one request of a connection to the next."},
    {"body_s", "Between two pieces of a request's body."},
    {"answer_s", "From the end of a request to the headers of its answer."},
    {"stream_s", "Between two pieces of an answer's body, server-sent events included."},
    {"upgraded_s", "Silence on a WebSocket or another upgraded connection; at least an hour."},
    {"verdicts_max", "Answers about credentials that are kept."},
    {"refusal_s", "How long an unknown credential is refused without asking again."},
    {"recheck_s", "How often masters are asked again about credentials by which something is open."},
    {"outage_trust_s", "How long a credential that was good is believed while no master answers."},
    {"sign_outs_max", "Sessions signed out while no master answers, until a master confirms it."},
    {"questions_per_second",
     "Credentials of one client address about which masters are asked, in the long run."},
    {"questions_burst", "Credentials of one client address about which masters are asked at once."},
    {"access_links_max", "Access points connected at once."},
    {"hop_s", "How long each step of opening a tunnel may take."},
    {"master_silence_s",
     "Silence after which the connection to a master is dropped and dialled again; with several masters 3 "
     "s."},
    {"redial_ms", "First pause before a master is dialled again; doubles, with jitter, up to redial_max_ms."},
    {"redial_max_ms", "Longest pause before a master is dialled again."},
});

}  // namespace hostler::gateway

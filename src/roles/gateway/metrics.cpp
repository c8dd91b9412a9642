#include "roles/gateway/gateway.h"

namespace hostler::gateway {

using enum MetricsPage::Type;

void Gateway::write_metrics(MetricsPage& page) const {
    const FrontCounters& now = counters();
    page.add("hostler_gateway_linked", "1: connected to a master.", gauge, int{linked()});
    page.add_bounded("hostler_gateway_connections", "Connections of browsers and programs.",
                     server_.connections(), settings_.connections_max);
    page.add("hostler_gateway_connections_client_max", "Connections that one address may have.", gauge,
             settings_.client_connections_max);
    const auto& closed = server_.places().count();
    page.begin("hostler_gateway_connections_closed_total",
               "Connections without a key that were closed, by why.", counter);
    page.value({{"why", "address"}}, closed.refused);
    page.value({{"why", "room"}}, closed.made_room);
    page.value({{"why", "silent"}}, closed.late);
    const auto& arrivals = server_.arrivals();
    page.begin("hostler_gateway_tls_refused_total",
               "Connections without TLS where it is, and failed handshakes.", counter);
    page.value({{"why", "plain"}}, arrivals.plain);
    page.value({{"why", "handshake"}}, arrivals.failed);
    page.add("hostler_gateway_proxy_refused_total",
             "Connections of trusted proxies without a good PROXY preamble.", counter, arrivals.unannounced);
    page.add("hostler_gateway_clients", "Addresses with connections.", gauge, front_.clients());
    page.add("hostler_gateway_requests", "Requests under way at instances.", gauge, front_.requests());
    page.add("hostler_gateway_requests_client_max", "Requests under way that one address may have.", gauge,
             settings_.client_requests_max);
    page.add("hostler_gateway_requests_instance_max", "Requests under way that one instance may have.", gauge,
             settings_.instance_requests_max);
    page.add_bounded("hostler_gateway_routes", "Instance ports known.", routes_.all().size(),
                     settings_.routes_max);
    page.add_bounded("hostler_gateway_verdicts", "Answers about credentials that are kept.",
                     keeper_.verdicts(), settings_.verdicts_max);
    page.add_bounded("hostler_gateway_trusted", "Credentials that are believed when no master answers.",
                     keeper_.trusted(), settings_.verdicts_max);
    page.add("hostler_gateway_open", "Connections admitted by a credential.", gauge, keeper_.open());
    page.add_bounded("hostler_gateway_sign_outs", "Sessions signed out, of which no master knows.",
                     keeper_.sign_outs(), settings_.sign_outs_max);
    page.add_bounded("hostler_gateway_sessions", "Terminals and forwarded ports that may be taken up again.",
                     entrance_.sessions_known(), Entrance::sessions_known_max);
    const ClusterCounters& clusters = clusters_.counters();
    page.add("hostler_gateway_cluster_requests", "Requests under way at API servers of clusters.", gauge,
             clusters_.requests());
    page.begin("hostler_gateway_cluster_requests_total",
               "Requests to API servers of clusters, by what became of them.", counter);
    page.value({{"outcome", "passed"}}, clusters.passed);
    page.value({{"outcome", "refused"}}, clusters.refused);
    page.value({{"outcome", "failed"}}, clusters.failed);
    page.add_bounded("hostler_gateway_access_links", "Access points connected, or to be tried.",
                     upstreams_.links(), settings_.access_links_max);
    page.add("hostler_gateway_idle_upstreams_route_max", "Idle tunnels kept for one instance port.", gauge,
             settings_.idle_upstreams_max);
    page.begin("hostler_gateway_requests_total", "Requests, by what became of them.", counter);
    page.value({{"outcome", "passed"}}, now.passed);
    page.value({{"outcome", "upgraded"}}, now.upgraded);
    page.value({{"outcome", "failed"}}, now.failed);
    page.value({{"outcome", "answered_here"}},
               now.requests - std::min(now.requests, now.passed + now.upgraded + now.failed));
}

}  // namespace hostler::gateway

// Who may use the API server of a cluster, as whom, and by which token.
#pragma once

#include "domain/tenancy/principal.h"
#include "roles/master/http/gate.h"
#include "roles/master/leader/term.h"

namespace hostler::uplink {
class Route;
}

namespace hostler::api {
struct ClusterCredential;
}

namespace hostler::master {

inline constexpr std::chrono::minutes cluster_token_life{10};
inline constexpr std::size_t cluster_tokens_max =
    64;  // Of a credential for a cluster: the oldest makes room.

// As gateways name it: "/clusters/kc-7f3k2m9qxy". A token is a session at this route.
std::string route_of_cluster(std::string_view id);
bool is_of_cluster(std::string_view route);
// nullptr: the route is none of a cluster, or that is deleted.
const Cluster* cluster_at(const Desk& desk, std::string_view route);

// Groups in the cluster in which the caller is: hostler:admins, hostler:editors or hostler:viewers. Empty:
// they may not use it.
std::vector<std::string> groups_in(const Desk& desk, const Principal& principal, const Cluster& cluster);

// The gateway's route to the API server on this node. false: there is none.
bool write_cluster_route(const Desk& desk, const ClusterNode& node, uplink::Route& route);

// Errors: conflict (no_gateway, cluster_not_made).
Result<api::ClusterCredential> make_cluster_credential(Term& term, Desk& desk, const api::Call& call,
                                                       const Cluster& cluster);
// "https://gpu.example.com:8443/clusters/kc-7f3k2m9qxy"; empty: there is no gateway.
std::string server_of(const Desk& desk, const Cluster& cluster);

}  // namespace hostler::master

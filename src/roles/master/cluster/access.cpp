#include "roles/master/cluster/access.h"

#include <fmt/format.h>

#include "api/types_cluster.h"
#include "proto/uplink.pb.h"
#include "roles/master/http/caller.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/zone/access_points.h"

namespace hostler::master {

namespace {

constexpr std::string_view routes_begin = "/clusters/";

}  // namespace

std::string route_of_cluster(std::string_view id) { return fmt::format("{}{}", routes_begin, id); }

bool is_of_cluster(std::string_view route) { return route.starts_with(routes_begin); }

const Cluster* cluster_at(const Desk& desk, std::string_view route) {
    if (!is_of_cluster(route)) return nullptr;
    const Cluster* found = desk.estate.clusters.find(std::string{route.substr(routes_begin.size())});
    return found && found->phase != ClusterPhase::deleted ? found : nullptr;
}

std::vector<std::string> groups_in(const Desk& desk, const Principal& principal, const Cluster& cluster) {
    if (principal.kind == PrincipalKind::share) return {};
    const Scope at = Scope::of_project(cluster.tenant, cluster.project);
    const auto holds = [&](Permission permission) { return authorize(principal, permission, at); };
    if (!authorize(principal, Permission::cluster_read, Scope::cloud()) &&
        (!may_enter(desk, cluster.tenant, cluster.project) || !holds(Permission::cluster_read)))
        return {};
    if (holds(Permission::cluster_write)) return {"hostler:admins"};
    return {holds(Permission::instance_enter) ? "hostler:editors" : "hostler:viewers"};
}

bool write_cluster_route(const Desk& desk, const ClusterNode& node, uplink::Route& route) {
    const Cluster* cluster = desk.estate.clusters.find(node.cluster);
    if (!cluster || node.role != NodeRole::control || node.phase != NodePhase::ready) return false;
    constexpr std::uint32_t port = 6443;  // For people: the host knows where its API server listens.
    route.set_name(fmt::format("{}/{}", route_of_cluster(cluster->id), node.id));
    route.set_tenant(cluster->tenant);
    route.set_project(cluster->project);
    route.set_instance(cluster->id);
    route.set_port(port);
    route.set_state("running");
    route.set_host(node.host);
    write_ways(desk, node.host, route);
    route.set_shown_as(cluster->name);
    return true;
}

std::string server_of(const Desk& desk, const Cluster& cluster) {
    const auto& gateways = desk.estate.gateways.all();
    if (gateways.empty()) return {};
    std::string_view address = gateways.begin()->second.address;
    while (address.ends_with('/')) address.remove_suffix(1);
    return fmt::format("{}{}", address, route_of_cluster(cluster.id));
}

Result<api::ClusterCredential> make_cluster_credential(Term& term, Desk& desk, const api::Call& call,
                                                       const Cluster& cluster) {
    if (!cluster.made || cluster.phase == ClusterPhase::deleting || cluster.phase == ClusterPhase::deleted)
        return fail(
            Code::conflict,
            fmt::format("cluster {} is {}: its API does not answer. `hostler cluster explain {}` tells more",
                        cluster.name, text_of(cluster.phase), cluster.name),
            "cluster_not_made");
    api::ClusterCredential made{.cluster = cluster.id,
                                .server = server_of(desk, cluster),
                                .user = fmt::format("hostler:{}", call.caller.actor),
                                .groups = groups_in(desk, call.caller.principal, cluster)};
    if (made.server.empty())
        return fail(Code::conflict, "there is no gateway so far, and clusters are used through one",
                    "no_gateway");
    auto life = std::chrono::duration_cast<std::chrono::microseconds>(cluster_token_life).count();
    made.expires_at = wall(desk.estate.micros() + life);
    if (call.dry_run) return made;
    made.token =
        make_token(term, call.caller, route_of_cluster(cluster.id), cluster_token_life, cluster_tokens_max);
    return made;
}

}  // namespace hostler::master

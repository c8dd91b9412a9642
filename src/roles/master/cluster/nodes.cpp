#include "roles/master/cluster/nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/command/commands.h"
#include "roles/master/stock/reclaim.h"

namespace hostler::master {

namespace {

std::string first_address(const Host& host) {
    return host.facts.addresses.empty() ? "" : host.facts.addresses.front();
}

// The whole of it: also GPUs that may take no work.
Claim claim_of(const Host& host, const Cluster& cluster, const std::string& node) {
    Claim claim{.host = host.id,
                .zone = host.zone,
                .use = ClaimUse::node,
                .tenant = cluster.tenant,
                .project = cluster.project,
                .holder = node};
    claim.created_by = cluster.created_by;
    claim.cpu_milli = host.facts.cpus * std::int64_t{1000};
    claim.memory_bytes = host.facts.memory_bytes;
    for (const GpuFacts& gpu : host.facts.gpus) claim.gpus.push_back(gpu.uuid);
    return claim;
}

bool serves_api(const ClusterNode& node) {
    return node.role == NodeRole::control && node.wanted &&
           (node.phase == NodePhase::creating || node.phase == NodePhase::ready);
}

}  // namespace

const Driver* driver_named(const Desk& desk, const std::string& name) {
    const auto at = std::ranges::find(desk.settings.drivers, name, &Driver::name);
    return at == desk.settings.drivers.end() ? nullptr : &*at;
}

std::vector<const ClusterNode*> nodes_of(const Desk& desk, const std::string& cluster) {
    auto nodes = desk.estate.cluster_nodes.by().cluster.of(cluster);
    std::ranges::sort(nodes, {}, &ClusterNode::number);
    return nodes;
}

bool answers(const Desk& desk, const std::string& host) {
    const Host* row = desk.estate.hosts.find(host);
    return row && row->phase == HostPhase::ready && row->quarantined.empty();
}

const ClusterNode& add_node(Desk& desk, const std::string& id, NodeRole role, const std::string& pool,
                            const HostFound& found) {
    Cluster& cluster = desk.estate.clusters.edit(id);
    const Host& host = desk.estate.hosts.at(found.host);
    ClusterNode node{.id = new_id(desk.random, "kn"),
                     .cluster = id,
                     .tenant = cluster.tenant,
                     .project = cluster.project,
                     .number = ++cluster.nodes_made,
                     .role = role,
                     .pool = pool,
                     .host = host.id,
                     .address = first_address(host),
                     .restores = role == NodeRole::control && !cluster.restores.empty()};
    node.name = fmt::format("{}-{}{}", cluster.name, role == NodeRole::control ? 'c' : 'w', node.number);
    node.created_at = node.phase_since = desk.estate.micros();
    give_way(desk, found.reclaimed, node.id, fmt::format("node {} of cluster {}", node.name, id));
    Claim claim = claim_of(host, cluster, node.id);
    claim.id = new_id(desk.random, "c");
    node.claim = desk.estate.hold(std::move(claim)).id;
    tell(desk, cluster, "node_claimed", fmt::format("Host {} becomes node {}.", host.id, node.name));
    return desk.estate.cluster_nodes.add(std::move(node));
}

void move_node(Desk& desk, const std::string& id, NodeEvent event) {
    const ClusterNode& before = desk.estate.cluster_nodes.at(id);
    const auto to = next(node_life, before.phase, event);
    if (!to) return;
    const Cluster* cluster = desk.estate.clusters.find(before.cluster);
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    node.phase = *to;
    node.phase_since = desk.estate.micros();
    node.step = node.attempt = node.not_before = 0;
    if (*to != NodePhase::unclean) node.reason.clear(), node.message.clear();
    if (*to == NodePhase::cleaning) node.member = node.healthy = false;
    if (*to == NodePhase::ready) {
        node.healthy = true;
        node.member = node.role == NodeRole::control;
        node.addresses = node.telling;
    }
    if (cluster && (*to == NodePhase::ready || *to == NodePhase::unclean))
        tell(desk, *cluster, fmt::format("node_{}", text_of(*to)),
             *to == NodePhase::ready
                 ? fmt::format("Node {} is ready.", node.name)
                 : fmt::format("The host of node {} is not known to be clean.", node.name));
}

void drop_node(Desk& desk, const std::string& id, const std::string& why) {
    const ClusterNode& before = desk.estate.cluster_nodes.at(id);
    if (!before.wanted) return;
    desk.estate.cluster_nodes.edit(id).wanted = false;
    if (const Cluster* cluster = desk.estate.clusters.find(before.cluster))
        tell(desk, *cluster, "node_dropped", fmt::format("Node {} leaves: {}.", before.name, why));
}

void end_node(Desk& desk, const std::string& id) {
    close_commands(desk, id, desk.estate.cluster_nodes.at(id).run + 1);
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    const std::string claim = std::exchange(node.claim, "");
    node.phase = NodePhase::left;
    node.phase_since = desk.estate.micros();
    node.doing.clear(), node.leftovers.clear(), node.checking = false;
    if (desk.estate.claims.find(claim)) desk.estate.release(claim);
    const std::string of = node.cluster;
    const Cluster* cluster = desk.estate.clusters.find(of);
    if (cluster)
        tell(desk, *cluster, "node_left", fmt::format("Node {} has left host {}.", node.name, node.host));
    desk.estate.cluster_nodes.retire(id);
    if (cluster && cluster->phase == ClusterPhase::deleted && !desk.estate.cluster_nodes.by().cluster.has(of))
        desk.estate.clusters.retire(of);
}

std::string endpoint_of(const Cluster& cluster) { return cluster.id + ".hostler.internal"; }

std::string addresses_of(const Desk& desk, const Cluster& cluster) {
    std::string lines;
    for (const ClusterNode* node : nodes_of(desk, cluster.id))
        if (serves_api(*node)) lines += fmt::format("{} {}\n", node->address, endpoint_of(cluster));
    return lines;
}

void tell(Desk& desk, const Cluster& cluster, std::string reason, std::string message) {
    desk.estate.event(Kind<Cluster>::name, cluster.id, cluster.tenant, std::move(reason), std::move(message));
}

}  // namespace hostler::master

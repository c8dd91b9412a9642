#include "roles/master/cluster/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "api/types_cluster.h"
#include "domain/billing/money.h"
#include "roles/master/billing/prices.h"
#include "roles/master/cluster/nodes.h"
#include "roles/master/cluster/reconcile.h"
#include "roles/master/http/gate.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

api::ClusterPool shown(const ClusterPool& pool) {
    return {.name = pool.name,
            .count = pool.count,
            .gpu_type = pool.gpu_type,
            .gpus = pool.gpus,
            .zone = pool.zone,
            .hosts = pool.hosts,
            .host_labels = pool.host_labels};
}

api::ClusterStep shown(const ClusterStepRecord& line) {
    return {.step = line.step,
            .attempt = line.attempt,
            .began_at = wall(line.began_at),
            .ended_at = wall_if(line.ended_at),
            .problem = line.problem};
}

}  // namespace

api::Cluster view(const Desk& desk, const Cluster& cluster) {
    api::Cluster row{.id = cluster.id,
                     .name = cluster.name,
                     .tenant_id = cluster.tenant,
                     .project = cluster.project,
                     .state = static_cast<api::ClusterState>(cluster.phase),
                     .reason = cluster.reason,
                     .message = cluster.message,
                     .driver = cluster.driver,
                     .version = cluster.version,
                     .restore = cluster.restores,
                     .values = cluster.values,
                     .control = cluster.control.count,
                     .control_zone = cluster.control.zone,
                     .control_hosts = cluster.control.hosts,
                     .control_labels = cluster.control.host_labels,
                     .api_answers = cluster.api_answers,
                     .wanted_nodes = cluster.control.count,
                     .endpoint = endpoint_of(cluster),
                     .created_by = cluster.created_by,
                     .created_at = wall(cluster.created_at),
                     .made_at = wall_if(cluster.made_at),
                     .labels = cluster.labels};
    for (const ClusterPool& pool : cluster.pools) {
        row.pools.push_back(shown(pool));
        row.wanted_nodes += pool.count;
    }
    for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(cluster.id))
        row.ready_nodes += node->phase == NodePhase::ready ? 1 : 0;
    return row;
}

api::ClusterNode view(const Desk& desk, const api::Call& call, const ClusterNode& node) {
    api::ClusterNode row{.id = node.id,
                         .name = node.name,
                         .role = static_cast<api::ClusterRole>(node.role),
                         .pool = node.pool,
                         .state = static_cast<api::ClusterNodeState>(node.phase),
                         .wanted = node.wanted,
                         .step = node.timeline.empty() ? "" : node.timeline.back().step,
                         .attempt = node.attempt,
                         .healthy = node.healthy,
                         .reason = node.reason,
                         .message = node.message,
                         .leftovers = node.leftovers,
                         .created_at = wall(node.created_at),
                         .state_since = wall(node.phase_since)};
    if (const Host* host = desk.estate.hosts.find(node.host)) {
        row.zone = host->zone;
        row.gpus = std::ssize(host->facts.gpus);
        if (may(call, Permission::host_read, scope_of_provider(host->owner))) row.host = host->id;
    }
    for (const ClusterStepRecord& line : node.timeline) row.timeline.push_back(shown(line));
    return row;
}

api::Cluster view_whole(const Desk& desk, const api::Call& call, const Cluster& cluster) {
    api::Cluster row = view(desk, cluster);
    for (const ClusterNode* node : nodes_of(desk, cluster.id)) row.nodes.push_back(view(desk, call, *node));
    return row;
}

namespace {

// The sum of what its GPUs cost; nullopt: one of them has no price.
std::optional<std::int64_t> price_of(const Desk& desk, const Host& host, std::string& currency) {
    std::int64_t micros = 0;
    for (const GpuFacts& gpu : host.facts.gpus) {
        const Price* price =
            price_now(desk, {gpu.model, host.zone, text_of(trust_of(host)), isolation_of(host)});
        if (!price) return std::nullopt;
        micros += price->amount_micros;
        currency = price->currency;
    }
    return micros;
}

}  // namespace

api::ClusterPlan plan_shown(Desk& desk, const api::Call& call, const std::string& id) {
    api::ClusterPlan plan{.fits = true};
    const Cluster cluster = desk.estate.clusters.at(id);
    std::string why;
    const auto claim = [&](NodeRole role, const ClusterPool& pool) {
        for (std::int64_t i = 0; i < pool.count; ++i)
            if (const auto done = claim_node(desk, id, role, pool.name); !done) {
                plan.fits = false;
                plan.reason = done.error().reason;
                why = done.error().message;
                return;
            }
    };
    claim(NodeRole::control, cluster.control);
    for (const ClusterPool& pool : cluster.pools) claim(NodeRole::worker, pool);
    std::set<std::string> zones;
    std::int64_t micros = 0;
    std::string currency;
    bool priced = authorize_anywhere(call.caller.principal, Permission::price_read);
    for (const ClusterNode* node : nodes_of(desk, id)) {
        const Host& host = desk.estate.hosts.at(node->host);
        zones.insert(host.zone);
        plan.gpus += std::ssize(host.facts.gpus);
        if (may(call, Permission::host_read, scope_of_provider(host.owner))) plan.hosts.push_back(host.id);
        const auto price = priced ? price_of(desk, host, currency) : std::nullopt;
        priced = price.has_value();
        micros += price.value_or(0);
    }
    plan.zones.assign(zones.begin(), zones.end());
    if (priced && !currency.empty()) plan.price_per_hour = money_text(micros), plan.currency = currency;
    const std::size_t hosts = nodes_of(desk, id).size();
    plan.sentence = fmt::format("It takes {} host{} with {} GPU{} now{}", hosts, hosts == 1 ? "" : "s",
                                plan.gpus, plan.gpus == 1 ? "" : "s",
                                zones.empty() ? "" : fmt::format(" in zone {}", fmt::join(zones, ", ")));
    if (plan.price_per_hour)
        plan.sentence += fmt::format(", for {} {} an hour", *plan.price_per_hour, currency);
    plan.sentence += plan.fits ? "." : fmt::format(", and waits for the others: {}.", why);
    return plan;
}

}  // namespace hostler::master

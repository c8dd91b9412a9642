#include "roles/master/cluster/clusters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/types_cluster.h"
#include "domain/quota/quota.h"
#include "roles/master/cluster/nodes.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

using Wrong = std::vector<FieldError>;

constexpr std::size_t value_bytes_max = 4096;

const Host* host_known(const Desk& desk, const std::string& name) {
    const Host* host = desk.estate.hosts.find(name);
    if (!host) host = desk.estate.hosts.by().name.first(name);
    return host && host->phase != HostPhase::retired ? host : nullptr;
}

std::vector<std::string> host_ids(const Desk& desk, const std::vector<std::string>& names,
                                  const std::string& field, Wrong& wrong) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const Host* host = host_known(desk, names[i]))
            ids.push_back(host->id);
        else
            wrong.push_back({fmt::format("{}[{}]", field, i), fmt::format("there is no host {}", names[i])});
    }
    return ids;
}

void check_zone(const Desk& desk, const std::string& zone, std::string field, Wrong& wrong) {
    if (!zone.empty() && !desk.estate.zones.find(zone))
        wrong.push_back({std::move(field), no_such_in(desk.estate.zones, "zone", zone)});
}

std::vector<ClusterPool> pools_of(const Desk& desk, const std::vector<api::ClusterPool>& asked,
                                  Wrong& wrong) {
    std::vector<ClusterPool> pools;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const api::ClusterPool& pool = asked[i];
        check_zone(desk, pool.zone, fmt::format("pools[{}].zone", i), wrong);
        pools.push_back({.name = pool.name,
                         .count = pool.count,
                         .gpu_type = pool.gpu_type,
                         .gpus = pool.gpus,
                         .zone = pool.zone,
                         .hosts = host_ids(desk, pool.hosts, fmt::format("pools[{}].hosts", i), wrong),
                         .host_labels = pool.host_labels});
    }
    return pools;
}

const Driver* driver_asked(const Desk& desk, const std::string& name, Wrong& wrong) {
    const Driver* driver = driver_named(desk, name);
    if (driver) return driver;
    std::vector<std::string_view> known;
    for (const Driver& one : desk.settings.drivers) known.push_back(one.name);
    wrong.push_back({"driver", no_such("driver", name, known)});
    return nullptr;
}

std::string version_asked(const Driver& driver, const std::optional<std::string>& version, Wrong& wrong) {
    if (!version) return driver.versions.empty() ? "" : driver.versions.front();
    if (std::ranges::count(driver.versions, *version) == 0)
        wrong.push_back({"version", fmt::format("driver {} makes {}, not {}", driver.name,
                                                fmt::join(driver.versions, ", "), *version)});
    return *version;
}

void check_values(const Driver& driver, const std::map<std::string, std::string>& values, Wrong& wrong) {
    std::vector<std::string_view> known;
    for (const auto& [name, value] : driver.values) known.push_back(name);
    for (const auto& [name, value] : values) {
        if (!driver.values.contains(name))
            wrong.push_back({fmt::format("values.{}", name), no_such("value", name, known)});
        if (value.size() > value_bytes_max)
            wrong.push_back(
                {fmt::format("values.{}", name), fmt::format("at most {} bytes", value_bytes_max)});
        if (value.find_first_of("\n\r\0", 0, 3) != std::string::npos)
            wrong.push_back({fmt::format("values.{}", name), "must be one line"});
    }
}

// Its driver and its values are those of the save; the request may change values.
void take_over(const ClusterSave& save, const api::CreateCluster& request, Cluster& cluster, Wrong& wrong) {
    if (request.driver != save.driver && request.driver != api::CreateCluster{}.driver)
        wrong.push_back({"driver", fmt::format("save {} is of driver {}", save.id, save.driver)});
    cluster.restores = save.id;
    cluster.driver = save.driver;
    for (const auto& [name, value] : save.values) cluster.values.try_emplace(name, value);
}

// What its hosts are known to use before they are chosen.
Amounts least_amounts(const Cluster& cluster) {
    Amounts amounts;
    for (const ClusterPool& pool : cluster.pools) {
        const std::int64_t gpus =
            pool.count * std::max<std::int64_t>(pool.gpus, pool.gpu_type.empty() ? 0 : 1);
        if (gpus == 0) continue;
        amounts["gpus"] += gpus;
        if (!pool.gpu_type.empty())
            amounts[resource_key(std::string{gpu_class_prefix} + pool.gpu_type)] += gpus;
    }
    return amounts;
}

bool ends(const Cluster& cluster) {
    return cluster.phase == ClusterPhase::deleting || cluster.phase == ClusterPhase::deleted ||
           cluster.phase == ClusterPhase::failed;
}

// Hosts that are not clean are cleaned now, and not after their pause: somebody has perhaps mended them.
void clean_again(Desk& desk, const std::string& id) {
    for (const ClusterNode* node : nodes_of(desk, id)) {
        if (node->phase != NodePhase::unclean) continue;
        ClusterNode& row = desk.estate.cluster_nodes.edit(std::string{node->id});
        row.attempt = row.not_before = 0;
    }
}

}  // namespace

const Cluster* find_cluster(const Desk& desk, const std::string& tenant, const std::string& project,
                            const std::string& name) {
    for (const Cluster* cluster : desk.estate.clusters.by().tenant_name.of({tenant, name}))
        if (cluster->project == project && cluster->phase != ClusterPhase::deleted) return cluster;
    return nullptr;
}

Result<const Cluster*> create_cluster(Desk& desk, const api::CreateCluster& request,
                                      const std::string& tenant, const std::string& created_by) {
    const std::string project = project_meant(request);
    TRY(check_project(desk, tenant, project));
    if (find_cluster(desk, tenant, project, request.name))
        return refuse(fmt::format("project {} has a cluster {} already", project, request.name),
                      "cluster_exists", "Choose another name, or delete that cluster.");
    Wrong wrong;
    Cluster cluster{.id = new_id(desk.random, "kc"),
                    .name = request.name,
                    .tenant = tenant,
                    .project = project,
                    .created_by = created_by,
                    .driver = request.driver,
                    .values = request.values,
                    .reason = "created",
                    .message = "its first host is being made ready"};
    std::optional<std::string> version = request.version;
    if (request.restore) {
        const ClusterSave& save = *TRY(save_to_restore(desk, tenant, project, *request.restore));
        take_over(save, request, cluster, wrong);
        version = save.version;
    }
    if (const Driver* driver = driver_asked(desk, cluster.driver, wrong)) {
        cluster.version = version_asked(*driver, version, wrong);
        check_values(*driver, request.values, wrong);
    }
    check_zone(desk, request.control_zone, "controlZone", wrong);
    cluster.control.count = request.control;
    cluster.control.zone = request.control_zone;
    cluster.control.hosts = host_ids(desk, request.control_hosts, "controlHosts", wrong);
    cluster.control.host_labels = request.control_labels;
    cluster.control.saves = request.restore.has_value();
    cluster.pools = pools_of(desk, request.pools, wrong);
    TRY(all_right(std::move(wrong)));
    TRY(check_possible(desk, cluster));
    Amounts asked = least_amounts(cluster);
    asked["clusters"] = 1;
    TRY(check_quotas(desk, asker_of(cluster), asked));
    ensure_project(desk, tenant, project);
    cluster.labels = request.labels.value_or(Labels{});
    cluster.created_at = desk.estate.micros();
    const std::string id = cluster.id;
    tell(desk, cluster, "created",
         cluster.restores.empty()
             ? fmt::format("Cluster {} was created.", cluster.name)
             : fmt::format("Cluster {} was created from save {}.", cluster.name, cluster.restores));
    desk.estate.clusters.add(std::move(cluster));
    return &desk.estate.clusters.at(id);
}

Result<> scale_cluster(Desk& desk, const std::string& id, const api::ScaleCluster& request) {
    const Cluster& now = desk.estate.clusters.at(id);
    if (ends(now))
        return refuse(fmt::format("cluster {} is {}", now.name, text_of(now.phase)), "cluster_ending",
                      "Create another one.");
    Cluster wanted = now;
    Wrong wrong;
    if (request.control) wanted.control.count = *request.control;
    if (!wanted.control.hosts.empty() && wanted.control.count > std::ssize(wanted.control.hosts))
        wrong.push_back({"control", fmt::format("the control plane is chosen from {} named hosts",
                                                wanted.control.hosts.size())});
    if (request.pools) wanted.pools = pools_of(desk, *request.pools, wrong);
    if (request.pool) {
        const auto pool = std::ranges::find(wanted.pools, *request.pool, &ClusterPool::name);
        std::vector<std::string_view> known;
        for (const ClusterPool& one : wanted.pools) known.push_back(one.name);
        if (pool == wanted.pools.end())
            wrong.push_back({"pool", no_such("pool", *request.pool, known)});
        else
            pool->count = request.count.value_or(pool->count);
    }
    TRY(all_right(std::move(wrong)));
    clean_again(desk, id);
    if (wanted.control == now.control && wanted.pools == now.pools) {
        if (!now.avoided.empty()) desk.estate.clusters.edit(id).avoided.clear();
        return {};
    }
    TRY(check_possible(desk, wanted));
    Amounts more = least_amounts(wanted);
    for (const auto& [resource, amount] : least_amounts(now)) more[resource] -= amount;
    std::erase_if(more, [](const auto& row) { return row.second <= 0; });
    TRY(check_quotas(desk, asker_of(now), more));
    Cluster& row = desk.estate.clusters.edit(id);
    row.control = wanted.control;
    row.pools = wanted.pools;
    row.avoided.clear();  // Whoever asks again gets all hosts tried again.
    tell(desk, row, "scaled",
         fmt::format("Cluster {} was asked to have {} hosts of the control plane and {} pools.", row.name,
                     row.control.count, row.pools.size()));
    return {};
}

std::vector<std::string> left_behind(const Desk& desk, const std::string& cluster) {
    std::vector<std::string> left;
    for (const ClusterNode* node : nodes_of(desk, cluster)) {
        if (!node->leftovers.empty())
            left.push_back(fmt::format("host {} (node {}) still has {}", node->host, node->name,
                                       fmt::join(node->leftovers, ", ")));
        else
            left.push_back(fmt::format("host {} (node {}) is {} and not known to be clean", node->host,
                                       node->name, text_of(node->phase)));
    }
    return left;
}

void delete_cluster(Desk& desk, const std::string& id, const std::optional<std::string>& force) {
    const Cluster& now = desk.estate.clusters.at(id);
    const auto to = next(cluster_life, now.phase, ClusterEvent::remove);
    clean_again(desk, id);
    if (!to && !force) return;
    Cluster& row = desk.estate.clusters.edit(id);
    if (to) {
        row.phase = *to;
        row.reason = "deleted", row.message = "its hosts are being cleaned";
        tell(desk, row, "deleting", fmt::format("Cluster {} is being deleted.", row.name));
    }
    if (!force || !row.forced.empty()) return;
    row.forced = *force;
    tell(desk, row, "forced",
         fmt::format("The deletion of cluster {} was forced: {}. Not clean: {}.", row.name, *force,
                     fmt::join(left_behind(desk, id), "; ")));
    for (const ClusterNode* node : nodes_of(desk, id))
        if (!node->forced) desk.estate.cluster_nodes.edit(std::string{node->id}).forced = true;
}

Result<> forget_node(Desk& desk, const std::string& id, const std::string& reason) {
    const ClusterNode& node = desk.estate.cluster_nodes.at(id);
    if (node.phase != NodePhase::unclean)
        return refuse(fmt::format("node {} is {}", node.name, text_of(node.phase)), "node_not_unclean",
                      "Only a node that is unclean can be forgotten; delete or scale its cluster first.");
    if (const Cluster* cluster = desk.estate.clusters.find(node.cluster))
        tell(desk, *cluster, "node_forgotten",
             fmt::format("Node {} was forgotten: {}. Its host {} may still have: {}.", node.name, reason,
                         node.host,
                         node.leftovers.empty() ? "anything; it was not looked at"
                                                : fmt::format("{}", fmt::join(node.leftovers, ", "))));
    desk.estate.event(
        Kind<Host>::name, node.host, "", "node_forgotten",
        fmt::format("Node {} was forgotten: {}. The host takes work again.", node.name, reason));
    end_node(desk, id);
    return {};
}

Result<DriverImages> images_of(const Desk& desk, const std::string& name,
                               const std::optional<std::string>& version) {
    Wrong wrong;
    DriverImages found;
    const Driver* driver = driver_asked(desk, name, wrong);
    if (driver) found.version = version_asked(*driver, version, wrong);
    TRY(all_right(std::move(wrong)));
    for (const std::string& image : driver->images)
        found.images.push_back(TRY(filled(image, {{"version", found.version}})));
    return found;
}

}  // namespace hostler::master

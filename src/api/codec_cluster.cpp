#include "api/codec_define.h"
#include "api/container_rules.h"
#include "api/operation_list.h"
#include "api/operations_cluster.h"
#include "api/types_placement.h"

HOSTLER_JSON(hostler::api::ClusterPool)
HOSTLER_JSON(hostler::api::CreateCluster)
HOSTLER_JSON(hostler::api::ClusterStep)
HOSTLER_JSON(hostler::api::ClusterNode)
HOSTLER_JSON(hostler::api::ClusterPlan)
HOSTLER_JSON(hostler::api::Cluster)
HOSTLER_JSON(hostler::api::ListClusters)
HOSTLER_JSON(hostler::api::NameCluster)
HOSTLER_JSON(hostler::api::ClusterCredential)
HOSTLER_JSON(hostler::api::ScaleCluster)
HOSTLER_JSON(hostler::api::DeleteCluster)
HOSTLER_JSON(hostler::api::ForgetClusterNode)
HOSTLER_JSON(hostler::api::ClusterWait)
HOSTLER_JSON(hostler::api::ClusterExplanation)
HOSTLER_JSON(hostler::api::ClusterDriver)
HOSTLER_JSON(hostler::api::ClusterDrivers)
HOSTLER_JSON(hostler::api::GetClusterImages)
HOSTLER_JSON(hostler::api::ClusterImages)
HOSTLER_JSON(hostler::api::List<hostler::api::Cluster>)
HOSTLER_JSON(hostler::api::ClusterSave)
HOSTLER_JSON(hostler::api::ListClusterSaves)
HOSTLER_JSON(hostler::api::NameClusterSave)
HOSTLER_JSON(hostler::api::List<hostler::api::ClusterSave>)

namespace hostler::api {

namespace {

void check_control(std::int64_t control, Wrong& wrong) {
    if (control != 1 && control != 3)
        wrong.push_back({"control", "must be 1 or 3: a control plane of 2 is lost with one of them"});
}

void check_pools(const std::vector<ClusterPool>& pools, Wrong& wrong) {
    refuse_doubles(pools, "pools[{}].name", &ClusterPool::name, wrong);
    std::int64_t hosts = 0;
    for (std::size_t i = 0; i < pools.size(); ++i) {
        const ClusterPool& pool = pools[i];
        hosts += pool.count;
        check_labels(pool.host_labels, fmt::format("pools[{}].hostLabels.", i), wrong);
        if (!pool.hosts.empty() && pool.count > std::ssize(pool.hosts))
            wrong.push_back({fmt::format("pools[{}].count", i),
                             fmt::format("is more than the {} hosts that are named", pool.hosts.size())});
    }
    if (hosts > cluster_nodes_max)
        wrong.push_back({"pools", fmt::format("have {} hosts together; a cluster has at most {}", hosts,
                                              cluster_nodes_max)});
}

void check_reason(bool force, const std::optional<std::string>& reason, Wrong& wrong) {
    if (force && !reason) wrong.push_back({"reason", "is required with force"});
    if (!force && reason) wrong.push_back({"reason", "is for force"});
}

}  // namespace

void Rules<CreateCluster>::check(const CreateCluster& request, Wrong& wrong) {
    check_control(request.control, wrong);
    check_labels(request.control_labels, "controlLabels.", wrong);
    if (!request.control_hosts.empty() && request.control > std::ssize(request.control_hosts))
        wrong.push_back({"controlHosts", fmt::format("names fewer than {} hosts", request.control)});
    check_pools(request.pools, wrong);
    if (request.restore && request.version)
        wrong.push_back({"version", "is that of the save: leave it out with restore"});
    if (request.labels) check_labels(*request.labels, "labels.", wrong);
}

void Rules<ScaleCluster>::check(const ScaleCluster& request, Wrong& wrong) {
    if (request.control) check_control(*request.control, wrong);
    if (request.pools) check_pools(*request.pools, wrong);
    if (request.pool.has_value() != request.count.has_value())
        wrong.push_back({request.pool ? "count" : "pool", "pool and count are given together"});
    if (request.pool && request.pools) wrong.push_back({"pools", "only one of pool and pools"});
    if (!request.control && !request.pool && !request.pools)
        wrong.push_back({"control", "nothing is to change: give control, pool with count, or pools"});
}

void Rules<DeleteCluster>::check(const DeleteCluster& request, Wrong& wrong) {
    check_reason(request.force, request.reason, wrong);
}

void Rules<ForgetClusterNode>::check(const ForgetClusterNode& request, Wrong& wrong) {
    if (!request.force) wrong.push_back({"force", "must be true: the host is not known to be clean"});
}

ApiArea cluster_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_cluster,
        &list_clusters,
        &get_cluster,
        &scale_cluster,
        &delete_cluster,
        &explain_cluster,
        &list_cluster_events,
        &create_cluster_credential,
        &save_cluster,
        &list_cluster_saves,
        &get_cluster_save,
        &delete_cluster_save,
        &forget_cluster_node,
        &get_cluster_drivers,
        &get_cluster_images,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"cluster", "Clusters of Kubernetes on whole hosts."},
        {"cluster node", "Hosts as nodes of clusters."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api

#include "roles/master/cluster/watch.h"

#include "roles/master/cluster/reconcile.h"

namespace hostler::master {

std::set<std::string> ClusterWatch::due(const Desk& desk) {
    const Estate& estate = desk.estate;
    std::set<std::string> due = clusters_.changed(estate.clusters);
    for (const std::string& id : nodes_.changed(estate.cluster_nodes)) {
        if (const auto was = cluster_of_.find(id); was != cluster_of_.end()) due.insert(was->second);
        if (const ClusterNode* node = estate.cluster_nodes.find(id)) {
            cluster_of_[id] = node->cluster;
            due.insert(node->cluster);
        } else {
            cluster_of_.erase(id);
        }
    }
    std::set<std::string> hosts = hosts_.changed(estate.hosts);
    hosts.merge(drains_.changed(estate.drains));
    if (!cluster_of_.empty())
        for (const std::string& host : hosts)
            for (const ClusterNode* node : estate.cluster_nodes.by().host.of(host)) due.insert(node->cluster);
    due.merge(times_.due(estate.micros()));
    for (const std::string& id : due) times_.erase(id);
    return due;
}

void ClusterWatch::look_again(const std::string& cluster, std::int64_t at) {
    if (at != 0) times_.set(cluster, at);
}

void look_at_clusters(Desk& desk) {
    ClusterWatch& watch = desk.live.part<ClusterWatch>();
    for (const std::string& id : watch.due(desk)) watch.look_again(id, reconcile_cluster(desk, id));
}

}  // namespace hostler::master

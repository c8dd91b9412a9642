#include "roles/master/cluster/metrics.h"

#include "domain/cluster/life.h"

namespace hostler::master {

void write_cluster_metrics(MetricsPage& page, const Desk& desk) {
    using enum MetricsPage::Type;
    page.begin("hostler_master_clusters", "Clusters, by phase.", gauge);
    for (const ClusterPhase phase : {ClusterPhase::provisioning, ClusterPhase::ready, ClusterPhase::scaling,
                                     ClusterPhase::degraded, ClusterPhase::failed, ClusterPhase::deleting})
        page.value({{"phase", text_of(phase)}}, desk.estate.clusters.by().phase.count(phase));
    page.begin("hostler_master_cluster_nodes", "Nodes of clusters, by phase.", gauge);
    for (const NodePhase phase :
         {NodePhase::claimed, NodePhase::preparing, NodePhase::creating, NodePhase::joining, NodePhase::ready,
          NodePhase::draining, NodePhase::leaving, NodePhase::cleaning, NodePhase::unclean})
        page.value({{"phase", text_of(phase)}}, desk.estate.cluster_nodes.by().phase.count(phase));
    page.begin("hostler_master_cluster_saves", "Saves of clusters, by phase.", gauge);
    for (const SavePhase phase :
         {SavePhase::saving, SavePhase::saved, SavePhase::failed, SavePhase::deleting})
        page.value({{"phase", text_of(phase)}}, desk.estate.cluster_saves.by().phase.count(phase));
}

}  // namespace hostler::master

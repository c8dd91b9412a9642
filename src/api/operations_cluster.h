// Clusters of Kubernetes.
#pragma once

#include "api/operation.h"
#include "api/types_cluster.h"
#include "api/types_cluster_save.h"
#include "api/types_event.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateCluster, Cluster> create_cluster{{
    .name = "createCluster", .method = Method::post, .path = "/v1/clusters", .permission = Permission::cluster_write,
    .help = "Create a cluster on whole hosts. A cluster that the hosts could never take is refused.", .status = 201,
    .noun = "cluster", .verb = "create", .argument = "name", .example = "cluster create train --control 3"}};
inline constexpr Typed<ListClusters, List<Cluster>> list_clusters{{
    .name = "listClusters", .path = "/v1/clusters", .permission = Permission::cluster_read, .help = "List clusters.",
    .list = true, .noun = "cluster", .verb = "list",
    .columns = "name id state reason readyNodes wantedNodes version driver tenantID project createdAt"}};
inline constexpr Typed<NameCluster, Cluster> get_cluster{{
    .name = "getCluster", .path = "/v1/clusters/{cluster}", .permission = Permission::cluster_read,
    .help = "Show a cluster, its nodes and their steps.", .noun = "cluster", .verb = "get", .example = "cluster get train"}};
inline constexpr Typed<ScaleCluster, Cluster> scale_cluster{{
    .name = "scaleCluster", .method = Method::patch, .path = "/v1/clusters/{cluster}",
    .permission = Permission::cluster_write, .help = "Change the number of hosts of a cluster, or its pools.",
    .noun = "cluster", .verb = "scale", .example = "cluster scale train --pool gpu --count 4"}};
inline constexpr Typed<DeleteCluster, Cluster> delete_cluster{{
    .name = "deleteCluster", .method = Method::delete_, .path = "/v1/clusters/{cluster}",
    .permission = Permission::cluster_write, .help = "Delete a cluster and clean its hosts.", .noun = "cluster",
    .verb = "delete", .confirm = "All that runs in the cluster ends, and its data is deleted.",
    .example = "cluster delete train"}};
inline constexpr Typed<NameCluster, ClusterExplanation> explain_cluster{{
    .name = "explainCluster", .path = "/v1/clusters/{cluster}/explain", .permission = Permission::cluster_read,
    .help = "Explain why a cluster is in its state, and what would help.", .noun = "cluster", .verb = "explain",
    .example = "cluster explain train"}};
inline constexpr Typed<NameCluster, List<Event>> list_cluster_events{{
    .name = "listClusterEvents", .path = "/v1/clusters/{cluster}/events", .permission = Permission::cluster_read,
    .help = "List the newest events of a cluster; with order=-created, page by page on to the oldest.", .list = true,
    .pages = Pages::newest, .noun = "cluster", .verb = "events", .columns = "time actor reason message"}};
inline constexpr Typed<NameCluster, ClusterCredential> create_cluster_credential{{
    .name = "createClusterCredential", .method = Method::post, .path = "/v1/clusters/{cluster}/credentials",
    .permission = Permission::cluster_read,
    .help = "Create a token of minutes for the API of a cluster. `hostler cluster kubeconfig` has kubectl ask for it.",
    .status = 201, .noun = "cluster", .verb = "credential", .example = "cluster credential train"}};
inline constexpr Typed<NameCluster, ClusterSave> save_cluster{{
    .name = "saveCluster", .method = Method::post, .path = "/v1/clusters/{cluster}/saves",
    .permission = Permission::cluster_write,
    .help = "Save the state and the keys of the control plane of a cluster. Data of volumes is not saved.", .status = 201,
    .noun = "cluster", .verb = "save", .example = "cluster save train"}};
inline constexpr Typed<ListClusterSaves, List<ClusterSave>> list_cluster_saves{{
    .name = "listClusterSaves", .path = "/v1/cluster-saves", .permission = Permission::cluster_read,
    .help = "List saves of clusters, also of those that were deleted.", .list = true, .noun = "cluster", .verb = "saves",
    .columns = "id clusterName state bytes createdAt reason version tenantID project cluster"}};
inline constexpr Typed<NameClusterSave, ClusterSave> get_cluster_save{{
    .name = "getClusterSave", .path = "/v1/cluster-saves/{save}", .permission = Permission::cluster_read,
    .help = "Show a save of a cluster.", .noun = "cluster", .verb = "show-save", .example = "cluster show-save ks-7f3k2m9qxy"}};
inline constexpr Typed<NameClusterSave, ClusterSave> delete_cluster_save{{
    .name = "deleteClusterSave", .method = Method::delete_, .path = "/v1/cluster-saves/{save}",
    .permission = Permission::cluster_write, .help = "Delete a save of a cluster and its file.", .noun = "cluster",
    .verb = "delete-save", .confirm = "No cluster can be restored from it afterwards.",
    .example = "cluster delete-save ks-7f3k2m9qxy"}};
inline constexpr Typed<ForgetClusterNode, ClusterNode> forget_cluster_node{{
    .name = "forgetClusterNode", .method = Method::post, .path = "/v1/cluster-nodes/{node}/forget",
    .permission = Permission::cluster_admin,
    .help = "Free the host of a node that could not be cleaned. Check the host first.", .noun = "cluster node",
    .verb = "forget", .confirm = "Its host takes work again though the cluster may still have parts there.",
    .example = "cluster node forget kn-7f3k2m9qxy --force --reason 'the host was installed again'"}};
inline constexpr Typed<Empty, ClusterDrivers> get_cluster_drivers{{
    .name = "getClusterDrivers", .path = "/v1/cluster-drivers", .permission = Permission::offer_read,
    .help = "Show the distributions of Kubernetes that clusters may have.", .noun = "cluster", .verb = "drivers"}};
inline constexpr Typed<GetClusterImages, ClusterImages> get_cluster_images{{
    .name = "getClusterImages", .path = "/v1/cluster-images", .permission = Permission::offer_read,
    .help = "List the container images that hosts of a cluster need, for sites without the internet.", .noun = "cluster",
    .verb = "images", .example = "cluster images --driver kubeadm --version v1.36.3"}};

}  // namespace hostler::api::ops

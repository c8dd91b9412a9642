// Clusters of Kubernetes on whole hosts: their control plane, their pools of workers, and what they need.
#pragma once

#include <map>

#include "api/types_common.h"
#include "api/types_placement.h"
#include "domain/cluster/cluster.h"
#include "domain/labels.h"

namespace hostler::api {

// clang-format off

enum class ClusterState { provisioning, ready, scaling, degraded, failed, deleting, deleted };
BOOST_DESCRIBE_ENUM(ClusterState, provisioning, ready, scaling, degraded, failed, deleting, deleted)

enum class ClusterNodeState { claimed, preparing, creating, joining, ready, draining, leaving, cleaning, unclean, left };
BOOST_DESCRIBE_ENUM(ClusterNodeState, claimed, preparing, creating, joining, ready, draining, leaving, cleaning, unclean, left)

enum class ClusterRole { control, worker };
BOOST_DESCRIBE_ENUM(ClusterRole, control, worker)

// Workers of one kind.
struct ClusterPool {
    std::string name;
    std::int64_t count = 1;
    std::string gpu_type;
    std::int64_t gpus = 0;
    std::string zone;
    std::vector<std::string> hosts;
    Labels host_labels;
    bool operator==(const ClusterPool&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClusterPool, (), (name, count, gpu_type, gpus, zone, hosts, host_labels))
template <>
inline constexpr auto fields<ClusterPool> = std::to_array<Field>({
    {.member = "name", .help = "Name of the pool, unique in its cluster.", .example = "gpu", .form = &forms::label},
    {.member = "count", .help = "Number of hosts.", .example = "4", .min = 0, .max = cluster_nodes_max, .absent = Absent::fills},
    {.member = "gpu_type", .help = "Words of the model of the hosts' GPUs; empty: any host, those without GPUs first.",
     .example = "H100", .max = 128, .absent = Absent::fills},
    {.member = "gpus", .help = "Least number of such GPUs on each host.", .example = "8", .min = 0, .max = 64,
     .absent = Absent::fills},
    {.member = "zone", .help = "Zone of the hosts; empty: any.", .example = "nj", .max = 63, .absent = Absent::fills},
    {.member = "hosts", .help = "Ids or names of the hosts to choose from; empty: any.", .max = cluster_nodes_max,
     .absent = Absent::fills},
    {.member = "host_labels", .help = "Labels that each host must have.", .example = "{\"disk\":\"nvme\"}", .max = labels_max,
     .absent = Absent::fills},
});

// POST /v1/clusters.
struct CreateCluster {
    std::string name;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::string driver = "kubeadm";
    std::optional<std::string> version{};
    std::optional<std::string> restore{};
    std::map<std::string, std::string> values;
    std::int64_t control = 1;
    std::string control_zone;
    std::vector<std::string> control_hosts;
    Labels control_labels;
    std::vector<ClusterPool> pools;
    std::optional<Labels> labels{};
};
BOOST_DESCRIBE_STRUCT(CreateCluster, (),
                      (name, tenant_id, project, driver, version, restore, values, control, control_zone, control_hosts,
                       control_labels, pools, labels))
template <>
inline constexpr auto fields<CreateCluster> = std::to_array<Field>({
    {.member = "name", .help = "Name of the cluster, unique in its project.", .example = "train", .max = 40,
     .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; required with an operator's key.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the tenant. Default: `default`.", .example = "lab", .form = &forms::label},
    {.member = "driver", .help = "Distribution of Kubernetes (`hostler cluster drivers`).", .example = "kubeadm", .max = 63,
     .absent = Absent::fills},
    {.member = "version", .help = "Version of Kubernetes. Default: the newest of the driver.", .example = "v1.36.3", .max = 63},
    {.member = "restore", .help = "Id of a save that the cluster is made of; driver and version are those of the save.",
     .example = "ks-7f3k2m9qxy", .min = 1, .max = 63, .form = &forms::id},
    {.member = "values", .help = "Values of the driver that differ from its own.",
     .example = "{\"podSubnet\":\"10.244.0.0/16\"}", .max = 64, .absent = Absent::fills},
    {.member = "control", .help = "Number of hosts of the control plane: 1 or 3.", .example = "3", .min = 1, .max = 3,
     .absent = Absent::fills},
    {.member = "control_zone", .help = "Zone of the control plane; empty: any.", .example = "nj", .max = 63,
     .absent = Absent::fills},
    {.member = "control_hosts", .help = "Ids or names of the hosts to choose the control plane from; empty: any.",
     .max = cluster_nodes_max, .absent = Absent::fills},
    {.member = "control_labels", .help = "Labels that each host of the control plane must have.",
     .example = "{\"role\":\"control\"}", .max = labels_max, .absent = Absent::fills},
    {.member = "pools", .help = "Pools of workers.", .max = cluster_pools_max, .absent = Absent::fills},
    {.member = "labels", .help = "Labels of the cluster.", .example = "{\"team\":\"ml\"}", .max = labels_max},
});
template <>
struct Rules<CreateCluster> {
    static void check(const CreateCluster& request, Wrong& wrong);
};

struct ClusterStep {
    std::string step;
    std::int64_t attempt = 1;
    WallTime began_at;
    std::optional<WallTime> ended_at{};
    std::string problem;
};
BOOST_DESCRIBE_STRUCT(ClusterStep, (), (step, attempt, began_at, ended_at, problem))
template <>
inline constexpr auto fields<ClusterStep> = std::to_array<Field>({
    {.member = "step", .help = "Step of the driver.", .example = "kubeadm-join"},
    {.member = "attempt", .help = "Number of the attempt, from 1.", .example = "1"},
    {.member = "began_at", .help = "Time of its start."},
    {.member = "ended_at", .help = "Time of its end; absent: it is under way."},
    {.member = "problem", .help = "Why it failed; empty: it did not."},
});

struct ClusterNode {
    std::string id;
    std::string name;
    ClusterRole role = ClusterRole::worker;
    std::string pool;
    ClusterNodeState state = ClusterNodeState::claimed;
    bool wanted = true;
    std::string host;
    std::string zone;
    std::int64_t gpus = 0;
    std::string step;
    std::int64_t attempt = 0;
    bool healthy = false;
    std::string reason;
    std::string message;
    std::vector<std::string> leftovers;
    WallTime created_at;
    WallTime state_since;
    std::vector<ClusterStep> timeline;
};
BOOST_DESCRIBE_STRUCT(ClusterNode, (),
                      (id, name, role, pool, state, wanted, host, zone, gpus, step, attempt, healthy, reason, message,
                       leftovers, created_at, state_since, timeline))
template <>
inline constexpr auto fields<ClusterNode> = std::to_array<Field>({
    {.member = "id", .help = "Id of the node.", .example = "kn-7f3k2m9qxy"},
    {.member = "name", .help = "Name of the node in Kubernetes.", .example = "train-w3"},
    {.member = "role", .help = "Role.", .example = "worker"},
    {.member = "pool", .help = "Pool of a worker; empty: it belongs to the control plane.", .example = "gpu"},
    {.member = "state", .help = "State.", .example = "ready"},
    {.member = "wanted", .help = "The cluster is to keep it; false: it leaves."},
    {.member = "host", .help = "Id of its host; empty: the caller may not see hosts.", .example = "h-4f2a9c"},
    {.member = "zone", .help = "Zone of its host.", .example = "nj"},
    {.member = "gpus", .help = "GPUs of its host.", .example = "8"},
    {.member = "step", .help = "Step that is under way or was tried last; empty: none.", .example = "kubeadm-join"},
    {.member = "attempt", .help = "Failed attempts of that step.", .example = "1"},
    {.member = "healthy", .help = "The cluster reports it as healthy."},
    {.member = "reason", .help = "Reason of a problem, stable for programs; empty: none.", .example = "step_failed"},
    {.member = "message", .help = "The reason in words."},
    {.member = "leftovers", .help = "Parts of the cluster that are still on its host.", .example = "[\"file /etc/kubernetes\"]"},
    {.member = "created_at", .help = "Time of its claim."},
    {.member = "state_since", .help = "Time since which it is in this state."},
    {.member = "timeline", .help = "The newest steps, oldest first."},
});

// With dryRun=true: what the creation would do.
struct ClusterPlan {
    std::string sentence;
    bool fits = false;
    std::vector<std::string> zones;
    std::vector<std::string> hosts;
    std::int64_t gpus = 0;
    std::optional<std::string> price_per_hour{};
    std::optional<std::string> currency{};
    std::string reason;
};
BOOST_DESCRIBE_STRUCT(ClusterPlan, (), (sentence, fits, zones, hosts, gpus, price_per_hour, currency, reason))
template <>
inline constexpr auto fields<ClusterPlan> = std::to_array<Field>({
    {.member = "sentence", .help = "All of it in words."},
    {.member = "fits", .help = "There is a free host for each node now."},
    {.member = "zones", .help = "Zones of the hosts that it takes now."},
    {.member = "hosts", .help = "Hosts that it takes now; for callers who may see hosts.", .example = "[\"h-4f2a9c\"]"},
    {.member = "gpus", .help = "GPUs of these hosts.", .example = "16"},
    {.member = "price_per_hour", .help = "Present price of an hour of these GPUs; absent: there are none, or no price is set.",
     .example = "39.84"},
    {.member = "currency", .help = "Currency of the price.", .example = "USD"},
    {.member = "reason", .help = "Why it does not fit, stable for programs; empty: it does.", .example = "no_host"},
});

struct Cluster {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string project;
    ClusterState state = ClusterState::provisioning;
    std::string reason;
    std::string message;
    std::string driver;
    std::string version;
    std::string restore;
    std::map<std::string, std::string> values;
    std::int64_t control = 1;
    std::string control_zone;
    std::vector<std::string> control_hosts;
    Labels control_labels;
    std::vector<ClusterPool> pools;
    bool api_answers = false;
    std::int64_t ready_nodes = 0;
    std::int64_t wanted_nodes = 0;
    std::string endpoint;
    std::string created_by;
    WallTime created_at;
    std::optional<WallTime> made_at{};
    Labels labels;
    std::vector<ClusterNode> nodes;
    std::vector<std::string> leaves;
    std::optional<ClusterPlan> plan{};
};
BOOST_DESCRIBE_STRUCT(Cluster, (),
                      (id, name, tenant_id, project, state, reason, message, driver, version, restore, values, control,
                       control_zone, control_hosts, control_labels, pools, api_answers, ready_nodes, wanted_nodes, endpoint, created_by,
                       created_at, made_at, labels, nodes, leaves, plan))
template <>
inline constexpr auto fields<Cluster> = std::to_array<Field>({
    {.member = "id", .help = "Id of the cluster.", .example = "kc-7f3k2m9qxy"},
    {.member = "name", .help = "Name of the cluster.", .example = "train"},
    {.member = "tenant_id", .help = "Tenant that owns it.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "state", .help = "State.", .example = "ready"},
    {.member = "reason", .help = "Reason of the state, stable for programs; empty: none.", .example = "no_host"},
    {.member = "message", .help = "The reason in words."},
    {.member = "driver", .help = "Distribution of Kubernetes.", .example = "kubeadm"},
    {.member = "version", .help = "Version of Kubernetes.", .example = "v1.36.3"},
    {.member = "restore", .help = "Id of the save that it was made of; empty: none.", .example = "ks-7f3k2m9qxy"},
    {.member = "values", .help = "Values of the driver that differ from its own."},
    {.member = "control", .help = "Wanted number of hosts of the control plane.", .example = "3"},
    {.member = "control_zone", .help = "Zone of the control plane; empty: any.", .example = "nj"},
    {.member = "control_hosts", .help = "Hosts that the control plane is chosen from; empty: any."},
    {.member = "control_labels", .help = "Labels that each host of the control plane must have."},
    {.member = "pools", .help = "Pools of workers."},
    {.member = "api_answers", .help = "The API of the cluster answered at the last probe."},
    {.member = "ready_nodes", .help = "Nodes that are ready.", .example = "4"},
    {.member = "wanted_nodes", .help = "Nodes that the cluster is to have.", .example = "5"},
    {.member = "endpoint", .help = "Host name of the API on the network of the hosts.", .example = "kc-7f3k2m9qxy.hostler.internal"},
    {.member = "created_by", .help = "Creator.", .example = "user/u-3hq8wz"},
    {.member = "created_at", .help = "Time of its creation."},
    {.member = "made_at", .help = "Time at which its first node was ready; absent: none was."},
    {.member = "labels", .help = "Labels."},
    {.member = "nodes", .help = "Nodes, also those that leave; empty in lists."},
    {.member = "leaves", .help = "Answer to a forced deletion: hosts that are not clean, a sentence each."},
    {.member = "plan", .help = "With dryRun=true: what the creation would do."},
});

struct ListClusters {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<ClusterState> state{};
    std::optional<std::string> label{};
};
BOOST_DESCRIBE_STRUCT(ListClusters, (), (tenant_id, project, state, label))
template <>
inline constexpr auto fields<ListClusters> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
    {.member = "state", .help = "Only those in this state."},
    {.member = "label", .help = "Only those with these labels.", .example = "team=ml", .max = 1024, .form = &forms::label_filter},
});

struct NameCluster {
    std::string cluster;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(NameCluster, (), (cluster, tenant_id, project))
template <>
inline constexpr auto fields<NameCluster> = std::to_array<Field>({
    {.member = "cluster", .help = "The cluster's id or name.", .example = "train", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the cluster; needed when clusters of two projects have this name.",
     .example = "lab", .form = &forms::label},
});

// POST /v1/clusters/{cluster}/credentials.
struct ClusterCredential {
    std::string cluster;
    std::string server;
    std::string token;
    std::string user;
    std::vector<std::string> groups;
    WallTime expires_at;
};
BOOST_DESCRIBE_STRUCT(ClusterCredential, (), (cluster, server, token, user, groups, expires_at))
template <>
inline constexpr auto fields<ClusterCredential> = std::to_array<Field>({
    {.member = "cluster", .help = "Id of the cluster.", .example = "kc-7f3k2m9qxy"},
    {.member = "server", .help = "URL of its API at the gateway.",
     .example = "https://gpu.example.com:8443/clusters/kc-7f3k2m9qxy"},
    {.member = "token", .help = "Bearer token for this server alone; empty with dryRun=true.",
     .example = "hs_9f2k7m3qxy"},
    {.member = "user", .help = "User for whom the API takes the caller.", .example = "hostler:user/u-3hq8wz"},
    {.member = "groups", .help = "Groups for whose member the API takes the caller.", .example = "[\"hostler:admins\"]"},
    {.member = "expires_at", .help = "The token opens nothing new after this time."},
});

// PATCH /v1/clusters/{cluster}. Fields that are not given stay.
struct ScaleCluster {
    std::string cluster;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::int64_t> control{};
    std::optional<std::string> pool{};
    std::optional<std::int64_t> count{};
    std::optional<std::vector<ClusterPool>> pools{};
};
BOOST_DESCRIBE_STRUCT(ScaleCluster, (), (cluster, tenant_id, project, control, pool, count, pools))
template <>
inline constexpr auto fields<ScaleCluster> = std::to_array<Field>({
    {.member = "cluster", .help = "The cluster's id or name.", .example = "train", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the cluster; needed when clusters of two projects have this name.",
     .example = "lab", .form = &forms::label},
    {.member = "control", .help = "Number of hosts of the control plane: 1 or 3.", .example = "3", .min = 1, .max = 3},
    {.member = "pool", .help = "Pool whose number of hosts is changed; with `count`.", .example = "gpu", .form = &forms::label},
    {.member = "count", .help = "Number of hosts of `pool`.", .example = "4", .min = 0, .max = cluster_nodes_max},
    {.member = "pools", .help = "All pools as they are to be, instead of the present ones.", .max = cluster_pools_max},
});
template <>
struct Rules<ScaleCluster> {
    static void check(const ScaleCluster& request, Wrong& wrong);
};

// DELETE /v1/clusters/{cluster}.
struct DeleteCluster {
    std::string cluster;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    bool force = false;
    std::optional<std::string> reason{};
};
BOOST_DESCRIBE_STRUCT(DeleteCluster, (), (cluster, tenant_id, project, force, reason))
template <>
inline constexpr auto fields<DeleteCluster> = std::to_array<Field>({
    {.member = "cluster", .help = "The cluster's id or name.", .example = "train", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the cluster; needed when clusters of two projects have this name.",
     .example = "lab", .form = &forms::label},
    {.member = "force", .help = "Do not wait for hosts that cannot be cleaned. They take no work until they are clean.",
     .absent = Absent::fills},
    {.member = "reason", .help = "Why it is forced; required with `force`.", .example = "the hosts are being replaced", .min = 1,
     .max = 512, .form = &forms::one_line},
});
template <>
struct Rules<DeleteCluster> {
    static void check(const DeleteCluster& request, Wrong& wrong);
};

// POST /v1/cluster-nodes/{node}/forget.
struct ForgetClusterNode {
    std::string node;
    bool force = false;
    std::string reason;
};
BOOST_DESCRIBE_STRUCT(ForgetClusterNode, (), (node, force, reason))
template <>
inline constexpr auto fields<ForgetClusterNode> = std::to_array<Field>({
    {.member = "node", .help = "The node's id.", .example = "kn-7f3k2m9qxy", .min = 1, .max = 128},
    {.member = "force", .help = "Accept that its host is not known to be clean; must be true.", .absent = Absent::fills},
    {.member = "reason", .help = "Why.", .example = "the host was installed again", .min = 1, .max = 512,
     .form = &forms::one_line},
});
template <>
struct Rules<ForgetClusterNode> {
    static void check(const ForgetClusterNode& request, Wrong& wrong);
};

struct ClusterWait {
    std::string node;
    std::string token;
    std::string sentence;
    std::string would_help;
};
BOOST_DESCRIBE_STRUCT(ClusterWait, (), (node, token, sentence, would_help))
template <>
inline constexpr auto fields<ClusterWait> = std::to_array<Field>({
    {.member = "node", .help = "Name of the node; empty: it concerns the cluster.", .example = "train-w3"},
    {.member = "token", .help = "The reason, stable for programs (docs/use/clusters.md).", .example = "step_failed"},
    {.member = "sentence", .help = "The reason in words."},
    {.member = "would_help", .help = "The smallest change that would help; empty: wait.",
     .example = "hostler cluster scale train --pool gpu --count 3"},
});

// GET /v1/clusters/{cluster}/explain.
struct ClusterExplanation {
    std::string token;
    std::string sentence;
    std::optional<std::string> would_help{};
    std::vector<ClusterWait> waits;
};
BOOST_DESCRIBE_STRUCT(ClusterExplanation, (), (token, sentence, would_help, waits))
template <>
inline constexpr auto fields<ClusterExplanation> = std::to_array<Field>({
    {.member = "token", .help = "The most important reason, stable for programs (docs/use/clusters.md).", .example = "no_host"},
    {.member = "sentence", .help = "The reason in words."},
    {.member = "would_help", .help = "The smallest change that would help."},
    {.member = "waits", .help = "All that it waits for."},
});

struct ClusterDriver {
    std::string name;
    std::string title;
    std::vector<std::string> versions;
    std::vector<std::string> ports;
    std::map<std::string, std::string> values;
};
BOOST_DESCRIBE_STRUCT(ClusterDriver, (), (name, title, versions, ports, values))
template <>
inline constexpr auto fields<ClusterDriver> = std::to_array<Field>({
    {.member = "name", .help = "Name of the driver.", .example = "kubeadm"},
    {.member = "title", .help = "Title for people.", .example = "Kubernetes by kubeadm"},
    {.member = "versions", .help = "Versions that it can make, the newest first.", .example = "[\"v1.36.3\"]"},
    {.member = "ports", .help = "Ports that must be free on a host.", .example = "[\"control 6443/tcp\"]"},
    {.member = "values", .help = "Values that a cluster may change, with their defaults."},
});

// GET /v1/cluster-drivers.
struct ClusterDrivers {
    std::vector<ClusterDriver> drivers;
};
BOOST_DESCRIBE_STRUCT(ClusterDrivers, (), (drivers))
template <>
inline constexpr auto fields<ClusterDrivers> = std::to_array<Field>({
    {.member = "drivers", .help = "Drivers of this master."},
});

// GET /v1/cluster-images.
struct GetClusterImages {
    std::string driver = "kubeadm";
    std::optional<std::string> version{};
};
BOOST_DESCRIBE_STRUCT(GetClusterImages, (), (driver, version))
template <>
inline constexpr auto fields<GetClusterImages> = std::to_array<Field>({
    {.member = "driver", .help = "Name of the driver.", .example = "kubeadm", .max = 63, .absent = Absent::fills},
    {.member = "version", .help = "Version of Kubernetes. Default: the newest of the driver.", .example = "v1.36.3", .max = 63},
});
struct ClusterImages {
    std::string driver;
    std::string version;
    std::vector<std::string> images;
};
BOOST_DESCRIBE_STRUCT(ClusterImages, (), (driver, version, images))
template <>
inline constexpr auto fields<ClusterImages> = std::to_array<Field>({
    {.member = "driver", .help = "Name of the driver.", .example = "kubeadm"},
    {.member = "version", .help = "Version of Kubernetes.", .example = "v1.36.3"},
    {.member = "images", .help = "Container images that hosts need.", .example = "[\"registry.k8s.io/pause:3.10\"]"},
});

}  // namespace hostler::api

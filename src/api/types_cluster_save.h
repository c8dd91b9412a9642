// Saves of clusters.
#pragma once

#include "api/types_cluster.h"
#include "domain/cluster/save.h"

namespace hostler::api {

// clang-format off

enum class ClusterSaveState { saving, saved, failed, deleting, deleted };
BOOST_DESCRIBE_ENUM(ClusterSaveState, saving, saved, failed, deleting, deleted)

struct ClusterSave {
    std::string id;
    std::string tenant_id;
    std::string project;
    std::string cluster;
    std::string cluster_name;
    ClusterSaveState state = ClusterSaveState::saving;
    std::string reason;
    std::string message;
    std::string driver;
    std::string version;
    std::map<std::string, std::string> values;
    std::int64_t bytes = 0;
    std::string created_by;
    WallTime created_at;
    WallTime state_since;
};
BOOST_DESCRIBE_STRUCT(ClusterSave, (),
                      (id, tenant_id, project, cluster, cluster_name, state, reason, message, driver, version, values, bytes,
                       created_by, created_at, state_since))
template <>
inline constexpr auto fields<ClusterSave> = std::to_array<Field>({
    {.member = "id", .help = "Id of the save.", .example = "ks-7f3k2m9qxy"},
    {.member = "tenant_id", .help = "Tenant that owns it.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "cluster", .help = "Id of the cluster, which may be deleted since.", .example = "kc-7f3k2m9qxy"},
    {.member = "cluster_name", .help = "Name of the cluster.", .example = "train"},
    {.member = "state", .help = "State.", .example = "saved"},
    {.member = "reason", .help = "Why it failed or waits, stable for programs; empty: it does neither.", .example = "step_failed"},
    {.member = "message", .help = "The reason in words."},
    {.member = "driver", .help = "Distribution of Kubernetes.", .example = "kubeadm"},
    {.member = "version", .help = "Version of Kubernetes.", .example = "v1.36.3"},
    {.member = "values", .help = "Values of the driver that differ from its own."},
    {.member = "bytes", .help = "Size of its file; 0: not known.", .example = "20971520"},
    {.member = "created_by", .help = "Creator.", .example = "user/u-3hq8wz"},
    {.member = "created_at", .help = "Time of its creation."},
    {.member = "state_since", .help = "Time since which it is in this state."},
});

struct ListClusterSaves {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> cluster{};
    std::optional<ClusterSaveState> state{};
};
BOOST_DESCRIBE_STRUCT(ListClusterSaves, (), (tenant_id, project, cluster, state))
template <>
inline constexpr auto fields<ListClusterSaves> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
    {.member = "cluster", .help = "Only those of the cluster of this id or name.", .example = "train", .max = 128},
    {.member = "state", .help = "Only those in this state."},
});

struct NameClusterSave {
    std::string save;
};
BOOST_DESCRIBE_STRUCT(NameClusterSave, (), (save))
template <>
inline constexpr auto fields<NameClusterSave> = std::to_array<Field>({
    {.member = "save", .help = "The save's id.", .example = "ks-7f3k2m9qxy", .min = 1, .max = 128},
});

}  // namespace hostler::api

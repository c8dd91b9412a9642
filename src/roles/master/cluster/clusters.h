// What people ask of clusters.
#pragma once

#include <optional>

#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateCluster;
struct ScaleCluster;
}  // namespace hostler::api

namespace hostler::master {

// Errors: invalid (each wrong field), conflict (cluster_exists, cluster_impossible), exhausted
// (quota_exceeded), not_found (tenant_not_found, project_not_found), conflict (tenant_disabled,
// project_disabled); those of save_to_restore().
Result<const Cluster*> create_cluster(Desk& desk, const api::CreateCluster& request,
                                      const std::string& tenant, const std::string& created_by);

// The one of this name that is not deleted; nullptr: there is none.
const Cluster* find_cluster(const Desk& desk, const std::string& tenant, const std::string& project,
                            const std::string& name);

// Errors: invalid (no such pool, zone, host), conflict (cluster_ending, cluster_impossible,
// cluster_degraded), exhausted (quota_exceeded).
Result<> scale_cluster(Desk& desk, const std::string& id, const api::ScaleCluster& request);

// Its hosts are cleaned. `force`: why its end waits for none that cannot be; nullopt: it does. May be said
// again, with force as well.
void delete_cluster(Desk& desk, const std::string& id, const std::optional<std::string>& force);

// A sentence for each host that is not clean.
std::vector<std::string> left_behind(const Desk& desk, const std::string& cluster);

// Its host is free, clean or not. Errors: conflict (node_not_unclean).
Result<> forget_node(Desk& desk, const std::string& id, const std::string& reason);

// Of a driver, in its newest version unless one is named. Errors: invalid (driver, version).
struct DriverImages {
    std::string version;
    std::vector<std::string> images;
};
Result<DriverImages> images_of(const Desk& desk, const std::string& driver,
                               const std::optional<std::string>& version);

}  // namespace hostler::master

// Clusters as the API shows them, and why they wait.
#pragma once

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Cluster;
struct ClusterExplanation;
struct ClusterNode;
struct ClusterPlan;
}  // namespace hostler::api

namespace hostler::master {

api::Cluster view(const Desk& desk, const Cluster& cluster);  // Without nodes.
api::ClusterNode view(const Desk& desk, const api::Call& call, const ClusterNode& node);
api::Cluster view_whole(const Desk& desk, const api::Call& call, const Cluster& cluster);

api::ClusterExplanation explain_cluster(const Desk& desk, const Cluster& cluster);

// Which hosts it would take now, and what they cost. Claims them: for a trial that is undone.
api::ClusterPlan plan_shown(Desk& desk, const api::Call& call, const std::string& cluster);

}  // namespace hostler::master

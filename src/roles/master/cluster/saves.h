// Saves of clusters: hosts that have the folder of saves make and delete them by steps of the driver.
#pragma once

#include "domain/cluster/save.h"
#include "roles/master/cluster/steps.h"

namespace hostler::master {

inline constexpr std::int64_t save_within_us = 3'600'000'000;  // A save that is not made by then has failed.

// Errors: conflict (cluster_not_made, cluster_ending, driver_missing, driver_cannot_save, no_saves_folder,
// cluster_save_runs, too_many_saves).
Result<const ClusterSave*> create_save(Desk& desk, const Cluster& cluster, const std::string& created_by);

// Its file goes, too. May be said again. Errors: conflict (cluster_save_runs, cluster_save_used).
Result<> delete_save(Desk& desk, const std::string& id);

// Of which a new cluster of the project may be made. Errors: not_found (cluster_save_not_found), conflict
// (cluster_save_unfinished, no_saves_folder).
Result<const ClusterSave*> save_to_restore(const Desk& desk, const std::string& tenant,
                                           const std::string& project, const std::string& id);
Error no_such_save(const std::string& id);

// The newest first.
std::vector<const ClusterSave*> saves_of(const Desk& desk, const std::string& cluster);

// The host of the node writes a save.
bool saves_now(const Desk& desk, const ClusterNode& node);

// Begins, tries again and ends what is due.
void look_at_saves(Desk& desk);

bool is_of_save(const Desk& desk, const std::string& subject);
void save_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void save_expired(Desk& desk, const std::string& id);
// As of a node.
Result<StepTold> told_of(const Desk& desk, const ClusterSave& save);

}  // namespace hostler::master

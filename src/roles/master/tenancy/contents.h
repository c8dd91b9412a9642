// Which rows lie in a tenant and its projects, and which of them keep it from being deleted.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Calls `visit(table, is_live)` for each kind whose rows are in projects. `is_live(row)`: somebody has it.
template <class Estate, class Visit>
void each_kind_in_projects(Estate& estate, Visit visit) {
    visit(estate.instances, [](const Instance& row) {
        return !is_final(row.phase) || !row.claim.empty() || !row.left.empty() || is_repairable(row);
    });
    visit(estate.volumes, [](const Volume& row) { return row.phase != VolumePhase::deleted; });
    visit(estate.jobs, [](const Job& row) { return !is_final(row.phase); });
    visit(estate.clusters, [](const Cluster& row) { return row.phase != ClusterPhase::deleted; });
    visit(estate.cluster_nodes, [](const ClusterNode& row) { return !row.claim.empty(); });
    visit(estate.cluster_saves, [](const ClusterSave& row) { return row.phase != SavePhase::deleted; });
    visit(estate.secrets, [](const Secret&) { return true; });
    visit(estate.subnets, [](const Subnet&) { return true; });
    visit(estate.claims,
          [](const Claim& row) { return row.use == ClaimUse::foreign && !row.tenant.empty(); });
}

// The same for kinds whose rows belong to a tenant alone.
template <class Estate, class Visit>
void each_kind_of_tenants(Estate& estate, Visit visit) {
    visit(estate.api_keys, [&](const ApiKey& row) {
        return !row.tenant.empty() && row.revoked_at == 0 &&
               (row.expires_at == 0 || row.expires_at > estate.micros());
    });
    visit(estate.alert_rules, [](const alert::Rule& row) { return !row.tenant.empty(); });
    visit(estate.alert_silences, [](const alert::Silence& row) { return !row.tenant.empty(); });
    visit(estate.alert_receivers, [](const alert::Receiver& row) { return !row.tenant.empty(); });
    visit(estate.report_schedules, [](const report::Schedule& row) { return !row.tenant.empty(); });
}

}  // namespace hostler::master

// Brings a cluster nearer to what is wanted: asks the plan for all that may be done now, and does it.
#pragma once

#include "domain/cluster/plan.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr std::int64_t host_retry_us = 10'000'000;  // Between two looks for a host.
inline constexpr int claims_at_once = 16;                  // Of one cluster, before others have their turn.

ClusterView view_of(const Desk& desk, const Cluster& cluster, const Driver& driver);

// Nothing changes if there is nothing to do. When it is to be looked at next, although nothing changes until
// then; 0: never.
std::int64_t reconcile_cluster(Desk& desk, const std::string& id);

// Claims a host for one more node. Errors: exhausted (quota_exceeded), conflict (no_host).
Result<> claim_node(Desk& desk, const std::string& cluster, NodeRole role, const std::string& pool);

// The pool of this name; the control plane for "". nullptr: there is none.
const ClusterPool* pool_named(const Cluster& cluster, NodeRole role, const std::string& name);

// Its claim goes with the host.
void node_host_gone(Desk& desk, const std::string& host);

}  // namespace hostler::master

// Nodes of clusters as rows: how they come, move along their lives and go.
#pragma once

#include "domain/cluster/plan.h"
#include "roles/master/cluster/hosts.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// nullptr: this master does not have it.
const Driver* driver_named(const Desk& desk, const std::string& name);

// By number.
std::vector<const ClusterNode*> nodes_of(const Desk& desk, const std::string& cluster);

// The host's agent takes commands.
bool answers(const Desk& desk, const std::string& host);

// The host is a node from here on, and nobody else's. `pool`: of a worker.
const ClusterNode& add_node(Desk& desk, const std::string& cluster, NodeRole role, const std::string& pool,
                            const HostFound& found);

// To the phase that the event leads to; nothing if it leads nowhere from here.
void move_node(Desk& desk, const std::string& id, NodeEvent event);
// It is to leave. `why`: a sentence.
void drop_node(Desk& desk, const std::string& id, const std::string& why);
// Nothing of it is left: its host is free.
void end_node(Desk& desk, const std::string& id);

// "ADDRESS ENDPOINT" of each node of the control plane that answers for the API, a line each.
std::string endpoint_of(const Cluster& cluster);
std::string addresses_of(const Desk& desk, const Cluster& cluster);

void tell(Desk& desk, const Cluster& cluster, std::string reason, std::string message);

}  // namespace hostler::master

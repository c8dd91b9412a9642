// Indexes of clusters and their nodes.
#pragma once

#include "domain/cluster/cluster.h"
#include "domain/cluster/save.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Cluster> {
    Index<Cluster> name, tenant;
    Index<Cluster, OfTenant> tenant_name;
    Index<Cluster, ClusterPhase> phase;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.name), visit(self.tenant), visit(self.tenant_name), visit(self.phase);
    }
};

template <>
struct Indexes<ClusterNode> {
    Index<ClusterNode> cluster, host, claim;
    Index<ClusterNode, NodePhase> phase;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.cluster), visit(self.host), visit(self.claim), visit(self.phase);
    }
};

template <>
struct Indexes<ClusterSave> {
    Index<ClusterSave> cluster, tenant;
    Index<ClusterSave, SavePhase> phase;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.cluster), visit(self.tenant), visit(self.phase); }
};

}  // namespace hostler::master

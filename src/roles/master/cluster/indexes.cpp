#include "roles/master/cluster/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Cluster>::Indexes()
    : name([](const Cluster& row) { return one(row.name); }),
      tenant([](const Cluster& row) { return one(row.tenant); }),
      tenant_name([](const Cluster& row) { return one(OfTenant{row.tenant, row.name}); }),
      phase([](const Cluster& row) { return one(row.phase); }) {}

Indexes<ClusterNode>::Indexes()
    : cluster([](const ClusterNode& row) { return one(row.cluster); }),
      host([](const ClusterNode& row) { return unless_empty(row.host); }),
      claim([](const ClusterNode& row) { return unless_empty(row.claim); }),
      phase([](const ClusterNode& row) { return one(row.phase); }) {}

Indexes<ClusterSave>::Indexes()
    : cluster([](const ClusterSave& row) { return one(row.cluster); }),
      tenant([](const ClusterSave& row) { return one(row.tenant); }),
      phase([](const ClusterSave& row) { return one(row.phase); }) {}

}  // namespace hostler::master

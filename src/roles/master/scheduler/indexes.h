// Indexes of claims.
#pragma once

#include "domain/inventory/claim.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Claim> {
    Index<Claim> host, holder;
    Index<Claim, ClaimUse> use;   // But for those of instances and of stock, which are most.
    Index<Claim> foreign_subnet;  // The subnets of unmanaged containers.
    Index<Claim> node_host;       // Hosts that are nodes of clusters.
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.holder), visit(self.use), visit(self.foreign_subnet),
            visit(self.node_host);
    }
};

}  // namespace hostler::master

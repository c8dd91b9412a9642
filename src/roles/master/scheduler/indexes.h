// By what claims are found besides their ids.
#pragma once

#include "domain/inventory/claim.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Claim> {
    Index<Claim> host, holder;
    Index<Claim, ClaimUse> use;   // But for those of instances and of stock, which are most.
    Index<Claim> foreign_subnet;  // In which what nobody placed there stands.
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.holder), visit(self.use), visit(self.foreign_subnet);
    }
};

}  // namespace hostler::master

// Indexes of quotas.
#pragma once

#include "domain/quota/quota.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Quota> {
    Index<Quota> tenant, subject;
    Index<Quota> guaranteed;  // Of a tenant's projects that have guarantees, by their tenant.
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.tenant), visit(self.subject), visit(self.guaranteed);
    }
};

}  // namespace hostler::master

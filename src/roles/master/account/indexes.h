// Indexes of service accounts.
#pragma once

#include "domain/tenancy/user.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<ServiceAccount> {
    Index<ServiceAccount> tenant, name;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.name); }
};

}  // namespace hostler::master

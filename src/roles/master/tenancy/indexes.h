// Indexes of projects.
#pragma once

#include "domain/tenancy/tenant.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Project> {
    Index<Project> tenant, name;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.name); }
};

}  // namespace hostler::master

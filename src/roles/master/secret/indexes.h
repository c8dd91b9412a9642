// Indexes of secrets.
#pragma once

#include "domain/tenancy/secret.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Secret> {
    Index<Secret> tenant, name;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.name); }
};

}  // namespace hostler::master

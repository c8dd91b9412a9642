// Indexes of identity providers.
#pragma once

#include "domain/oidc/provider.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<IdentityProvider> {
    Index<IdentityProvider> tenant;
    Index<IdentityProvider, bool> listed;  // true: on all sign-in pages.
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.listed); }
};

}  // namespace hostler::master

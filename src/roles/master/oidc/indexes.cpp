#include "roles/master/oidc/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<IdentityProvider>::Indexes()
    : tenant([](const IdentityProvider& row) { return one(row.tenant); }),
      listed([](const IdentityProvider& row) { return one(row.tenant.empty() || row.listed); }) {}

}  // namespace hostler::master

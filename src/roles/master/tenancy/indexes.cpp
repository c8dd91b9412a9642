#include "roles/master/tenancy/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Project>::Indexes()
    : tenant([](const Project& row) { return one(row.tenant); }),
      name([](const Project& row) { return one(row.name); }) {}

}  // namespace hostler::master

#include "roles/master/account/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<ServiceAccount>::Indexes()
    : tenant([](const ServiceAccount& row) { return one(row.tenant); }),
      name([](const ServiceAccount& row) { return one(row.name); }) {}

}  // namespace hostler::master

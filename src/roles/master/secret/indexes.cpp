#include "roles/master/secret/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Secret>::Indexes()
    : tenant([](const Secret& row) { return one(row.tenant); }),
      name([](const Secret& row) { return one(row.name); }) {}

}  // namespace hostler::master

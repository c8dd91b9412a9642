#include "roles/master/share/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Share>::Indexes()
    : instance([](const Share& row) { return one(row.instance); }),
      hash([](const Share& row) { return one(row.hash); }),
      expires_at([](const Share& row) { return one(row.expires_at); }) {}

}  // namespace hostler::master

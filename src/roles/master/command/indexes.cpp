#include "roles/master/command/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<HostCommand>::Indexes()
    : subject([](const HostCommand& row) { return one(row.subject); }),
      host([](const HostCommand& row) { return one(row.host); }),
      verb([](const HostCommand& row) { return one(row.verb); }),
      expires_at([](const HostCommand& row) { return one(row.expires_at); }) {}

}  // namespace hostler::master

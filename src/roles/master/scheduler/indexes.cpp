#include "roles/master/scheduler/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Claim>::Indexes()
    : host([](const Claim& row) { return one(row.host); }),
      holder([](const Claim& row) { return unless_empty(row.holder); }),
      use([](const Claim& row) {
          return one_if(row.use != ClaimUse::instance && row.use != ClaimUse::stock, row.use);
      }),
      foreign_subnet(
          [](const Claim& row) { return row.use == ClaimUse::foreign ? unless_empty(row.subnet) : Texts{}; }),
      node_host([](const Claim& row) { return one_if(row.use == ClaimUse::node, row.host); }) {}

}  // namespace hostler::master

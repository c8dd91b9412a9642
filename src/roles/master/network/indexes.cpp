#include "roles/master/network/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

namespace {

std::vector<SubnetWork> work_of(const Subnet& subnet) {
    std::vector<SubnetWork> work = one_if(subnet.leaving && !subnet.unusable, SubnetWork::remove);
    if (subnet.foreign) work.push_back(SubnetWork::see_if_still_foreign);
    return work;
}

}  // namespace

Indexes<Subnet>::Indexes()
    : place([](const Subnet& row) { return one(OfProject{row.tenant, row.project, row.host}); }),
      host([](const Subnet& row) { return one(row.host); }),
      network([](const Subnet& row) { return one(row.network); }),
      number([](const Subnet& row) { return one(row.index); }),
      work([](const Subnet& row) { return work_of(row); }) {}

Indexes<Network>::Indexes()
    : tenant([](const Network& row) { return one(row.tenant); }),
      name([](const Network& row) { return one(row.name); }),
      project([](const Network& row) { return one(OfTenant{row.tenant, row.project}); }) {}

}  // namespace hostler::master

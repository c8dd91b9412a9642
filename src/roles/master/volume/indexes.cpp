#include "roles/master/volume/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

namespace {

std::vector<VolumeWork> work_of(const Volume& volume) {
    return one_if(volume.phase == VolumePhase::creating || volume.phase == VolumePhase::deleting ||
                      volume.wanted_bytes > 0,
                  VolumeWork::act);
}

}  // namespace

Indexes<Volume>::Indexes()
    : host([](const Volume& row) { return unless_empty(row.host); }),
      tenant([](const Volume& row) { return one(row.tenant); }),
      name([](const Volume& row) { return one(row.name); }),
      tenant_name([](const Volume& row) { return one(OfTenant{row.tenant, row.name}); }),
      work([](const Volume& row) { return work_of(row); }) {}

}  // namespace hostler::master

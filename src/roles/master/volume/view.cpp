#include "roles/master/volume/view.h"

#include "api/types_volume.h"
#include "core/quantity.h"
#include "roles/master/state/views.h"
#include "roles/master/volume/disks.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

api::Volume view(const Desk& desk, const Volume& volume) {
    api::Volume shown{.id = volume.id,
                      .name = volume.name,
                      .tenant_id = volume.tenant,
                      .project = volume.project,
                      .size = to_string(Quantity::of_units(volume.size_bytes))};
    if (volume.wanted_bytes > 0) shown.wanted_size = to_string(Quantity::of_units(volume.wanted_bytes));
    shown.message = volume.message;
    shown.zone = zone_of(desk, volume);
    shown.host = volume.host;
    shown.attached_to = attached_to(desk, volume.id);
    shown.created_at = wall(volume.created_at);
    shown.created_by = volume.created_by;
    if (const DiskUse* use = use_of_disk(desk, volume)) show_use(*use, shown);
    switch (volume.phase) {
        case VolumePhase::unbound:
        case VolumePhase::available:
            shown.state =
                shown.attached_to.empty() ? api::VolumeState::available : api::VolumeState::attached;
            break;
        case VolumePhase::creating: shown.state = api::VolumeState::creating; break;
        case VolumePhase::deleting: shown.state = api::VolumeState::deleting; break;
        case VolumePhase::deleted: shown.state = api::VolumeState::deleted; break;
    }
    return shown;
}

}  // namespace hostler::master

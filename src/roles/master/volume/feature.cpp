#include "roles/master/state/feature.h"
#include "roles/master/state/host_report.h"
#include "roles/master/volume/disks.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

void add_volumes(Api& service);

static constexpr ApiPart volume_api[] = {add_volumes};
extern const Feature volume_feature{
    .name = "volume",
    .api = volume_api,
    .sweep = [](Term&, Desk& desk) { reconcile_volumes(desk); },
    .host_reports =
        [](Desk& desk, const std::string& host, HostReport& report) {
            if (report.disks) note_disks(desk, host, std::move(*report.disks));
        },
    .host_gone = lose_volumes,
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"
#include "roles/master/drain/drain.h"

namespace hostler::master {

void add_drains(Api& service);

static constexpr ApiPart drain_api[] = {add_drains};
extern const Feature drain_feature{
    .name = "drain",
    .api = drain_api,
    .sweep = [](Term&, Desk& desk) { follow_drains(desk); },
    .host_gone =
        [](Desk& desk, const std::string& host) {
            if (desk.estate.drains.find(host)) desk.estate.drains.erase(host);
        },
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"
#include "roles/master/alert/watch.h"

namespace hostler::master {

void add_alerts(Api& service);
void add_alert_receivers(Api& service);

static constexpr ApiPart alert_api[] = {add_alerts, add_alert_receivers};
extern const Feature alert_feature{
    .name = "alert",
    .api = alert_api,
    .start = start_alerts,
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"
#include "roles/master/http/audit_seals.h"
#include "roles/master/http/denials.h"

namespace hostler::master {

void add_audit(Api& service);

static constexpr ApiPart http_api[] = {add_audit};
extern const Feature http_feature{
    .name = "http",
    .api = http_api,
    .sweep =
        [](Term& term, Desk& desk) {
            desk.live.part<Denials>().tell_further(desk);
            seal_audit(term, desk);
        },
};

}  // namespace hostler::master

#include "roles/master/state/feature.h"

namespace hostler::master {

void add_audit(Api& service);

static constexpr ApiPart http_api[] = {add_audit};
extern const Feature http_feature{
    .name = "http",
    .api = http_api,
};

}  // namespace hostler::master

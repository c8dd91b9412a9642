#include "roles/master/state/feature.h"

namespace hostler::master {

void add_overview(Api& service);

static constexpr ApiPart overview_api[] = {add_overview};
extern const Feature overview_feature{
    .name = "overview",
    .api = overview_api,
};

}  // namespace hostler::master

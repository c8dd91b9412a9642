#include "roles/master/state/feature.h"
#include "roles/master/sealing/sealing.h"

namespace hostler::master {

void add_sealing(Api& service);

static constexpr ApiPart sealing_api[] = {add_sealing};
extern const Feature sealing_feature{
    .name = "sealing",
    .api = sealing_api,
    .start = start_sealing,
};

}  // namespace hostler::master

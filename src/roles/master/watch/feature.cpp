#include "roles/master/state/feature.h"

namespace hostler::master {

void add_watch(Api& service);

static constexpr ApiPart watch_api[] = {add_watch};
extern const Feature watch_feature{.name = "watch", .api = watch_api};

}  // namespace hostler::master

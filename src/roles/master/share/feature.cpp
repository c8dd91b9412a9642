#include "roles/master/state/feature.h"
#include "roles/master/share/shares.h"

namespace hostler::master {

extern const Feature share_feature{
    .name = "share",
    .sweep = [](Term&, Desk& desk) { close_shares(desk); },
};

}  // namespace hostler::master

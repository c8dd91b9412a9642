// What the API shows of networks.
#pragma once

#include "api/types_volume.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

api::Network view(const Desk& desk, const Network& network);

}  // namespace hostler::master

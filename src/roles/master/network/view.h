// What the API shows of networks.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Network;
}  // namespace hostler::api

namespace hostler::master {

api::Network view(const Desk& desk, const Network& network);

}  // namespace hostler::master

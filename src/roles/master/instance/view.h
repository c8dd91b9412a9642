// What the API shows of instances.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Instance;
}  // namespace hostler::api

namespace hostler::master {

api::Instance view(const Desk& desk, const Instance& instance);

}  // namespace hostler::master

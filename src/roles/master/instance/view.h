// What the API shows of instances.
#pragma once

#include "api/types_instance.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

api::Instance view(const Desk& desk, const Instance& instance);

}  // namespace hostler::master

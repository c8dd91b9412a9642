// What the API shows of hosts and their GPUs.
#pragma once

#include "api/types_host.h"
#include "roles/master/desk.h"

namespace hostler::master {

api::Host view(const Desk& desk, const Host& host);
api::Gpu view(const Desk& desk, const Host& host, const GpuFacts& gpu);

}  // namespace hostler::master

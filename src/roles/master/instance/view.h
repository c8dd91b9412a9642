// What the API shows of instances.
#pragma once

#include "roles/master/http/audit.h"

namespace hostler::api {
struct GetInstance;
struct Instance;
}  // namespace hostler::api

namespace hostler::master {

api::Instance view(const Desk& desk, const Instance& instance);
// What a request about one, as to start it, is about.
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetInstance& request);

}  // namespace hostler::master

// What the API shows of instances.
#pragma once

#include "roles/master/http/audit.h"

namespace hostler::api {
struct GetInstance;
struct Instance;
}  // namespace hostler::api

namespace hostler::master {

// Without its price.
api::Instance view(const Desk& desk, const Instance& instance);
// With it, for a caller who may see prices.
api::Instance view(const Desk& desk, const Instance& instance, const api::Caller& caller);
void show_price(const Desk& desk, const Instance& instance, const api::Caller& caller, api::Instance& shown);
// What a request about one, as to start it, is about.
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetInstance& request);

}  // namespace hostler::master

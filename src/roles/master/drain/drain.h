// Draining: a host takes nothing new, its tenants are told, and what is still there when the notice is over
// is stopped. Instances of loss policy `move` begin elsewhere.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct DrainHost;
}  // namespace hostler::api

namespace hostler::master {

// Once more: with another notice, counted from now, and another reason. Errors: not_found (host_not_found).
Result<> drain_host(Desk& desk, const std::string& host, const api::DrainHost& request);
Result<> undrain_host(Desk& desk, const std::string& host);

// Takes all steps that can be taken. By level, every second.
void follow_drains(Desk& desk);

}  // namespace hostler::master

// What requests about a host are about.
#pragma once

#include "api/handlers.h"
#include "api/types_host.h"
#include "roles/master/http/audit.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

Subject host_subject(const Desk& desk, const api::Call& call, const std::string& name);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameHost& request);

}  // namespace hostler::master

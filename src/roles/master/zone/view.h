// What the API shows of zones, access points and the tokens with which hosts join.
#pragma once

#include "api/types_zone.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

api::Zone view(const Desk& desk, const Zone& zone);
api::AccessPoint view(const Desk& desk, const AccessPoint& access);
api::HostToken view(const HostToken& token);

}  // namespace hostler::master

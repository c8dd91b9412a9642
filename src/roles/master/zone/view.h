// What the API shows of zones, access points and the tokens with which hosts join.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct AccessPoint;
struct HostToken;
struct Zone;
}  // namespace hostler::api

namespace hostler::master {

api::Zone view(const Desk& desk, const Zone& zone);
api::AccessPoint view(const Desk& desk, const AccessPoint& access);
api::HostToken view(const HostToken& token);

}  // namespace hostler::master

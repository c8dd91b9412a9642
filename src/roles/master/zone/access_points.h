// Access points: what agents are told of them, how they drain, what the operator sees.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
enum class AccessState;
}  // namespace hostler::api
namespace hostler::uplink {
class AccessList;
class Route;
}  // namespace hostler::uplink

namespace hostler::master {

struct AccessUse {
    int hosts = 0;     // Speak through it,
    int standbys = 0;  // or could at once.
    int load_percent = 0;
};
AccessUse use_of(const Desk& desk, const AccessPoint& access);
api::AccessState state_of(const Desk& desk, const AccessPoint& access);

// Agents leave it, one after the other, and no new ones come. Errors: not_found; conflict (no_other_access:
// no other one takes agents, unless `force`).
Result<> drain_access(Desk& desk, const std::string& name, bool draining, bool force);

// All of them, for agents to choose from.
void write_access_list(const Desk& desk, uplink::AccessList& into);
// What is typed on a host so that it joins: access points by their addresses, the best first. What is of no
// use on another machine is left out or, where nothing else is there, said in a comment of the shell.
std::string join_command(const std::vector<std::string>& addresses, const std::string& token);
// Where gateways ask for a tunnel to that host, the best first.
void write_ways(const Desk& desk, const std::string& host, uplink::Route& into);

}  // namespace hostler::master

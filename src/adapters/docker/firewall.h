// The host's side of isolation: a table in nftables for each cloud, shared by its agents of a machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/network/ipv4.h"

namespace hostler::docker {

// What tenants may reach outside their own network: the Internet, and what the operator allows.
struct WallPlan {
    std::string table = "hostler";
    std::vector<Ipv4Subnet> reach{};      // Allowed by the operator, whatever else refuses it.
    std::vector<Ipv4Subnet> connected{};  // Networks of the host, beside those that are private anyway.
};

// For `nft -f -`: one transaction that may be repeated. Rules speak of sets, and a bridge is an element of
// them: two agents of one cloud add and remove each their own. It drops, never allows: whatever other rules
// refuse (Docker's FORWARD policy, the host's own firewall, another cloud's table) stays refused.
std::string wall_up(const WallPlan& plan, std::string_view bridge);
std::string wall_down(std::string_view table, std::string_view bridge);

// Rules that wall_up() leaves in the table, whatever bridges stand in it.
std::size_t wall_rules_count();

// True when `nft list set inet TABLE bridges` shows no bridge.
bool no_bridges(std::string_view listing);

std::string table_drop(std::string_view table);

}  // namespace hostler::docker

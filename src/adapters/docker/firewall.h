// The host's side of isolation: a table of its own in nftables, shared by all agents of a machine.
#pragma once

#include <string>
#include <string_view>

namespace hostler::docker {

// For `nft -f -`: one transaction that may be repeated. Rules speak of sets, and a bridge is an element of
// them: two agents of one machine add and remove each their own. It drops, never allows: whatever other rules
// refuse (Docker's FORWARD policy, the host's own firewall) stays refused.
std::string wall_up(std::string_view bridge);
std::string wall_down(std::string_view bridge);

// Rules that wall_up() leaves in the table, whatever bridges stand in it.
std::size_t wall_rules_count();

// True when `nft list set inet hostler bridges` shows no bridge.
bool no_bridges(std::string_view listing);

inline constexpr const char* table_drop = "delete table inet hostler\n";

}  // namespace hostler::docker

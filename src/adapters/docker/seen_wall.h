// A table of nftables that firewall.h makes, as the kernel has it: asked by netlink in a fraction of a
// millisecond, where to run `nft` takes ten.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::docker {

struct SeenWall {
    // Table, chains, rules and ranges of addresses in the kernel's own words, without what changes by itself.
    // Only to be compared with those of another look.
    std::string rules;
    std::size_t rules_count = 0;
    std::set<std::string> bridges;  // Keys of the set, as name_key() makes them,
    std::set<std::string> inside;   // and pairs of them.

    bool guards(std::string_view bridge) const;
};

// Blocks, for less than a second. Errors: not_found (there is no such table, or not all of it), unavailable.
Result<SeenWall> see_wall(std::string_view table);

}  // namespace hostler::docker

// Which networks of the operator tenants may reach, as options name them.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "domain/network/ipv4.h"

namespace hostler {

inline constexpr std::size_t tenant_reach_max = 64;

// "10.20.0.0/16", or an address alone, each. Errors: invalid: more than tenant_reach_max of them, IPv6
// (tenants have none), bits set behind the prefix, or a range that is larger than a /8, of this host itself
// (0/8, 127/8), or of no single machine (224/3).
Result<std::vector<Ipv4Subnet>> parse_tenant_reach(const std::vector<std::string>& ranges);

}  // namespace hostler

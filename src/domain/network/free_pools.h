// Which addresses a cloud that begins on a machine may give to its instances.
#pragma once

#include <span>
#include <vector>

#include "domain/network/ipv4.h"

namespace hostler {

// The /16 of private addresses that a cloud takes one of when nobody names its addresses, without those that
// share an address with a network of `used`. 10.208.0.0/16 to 10.223.0.0/16 come first; 172.24.0.0/16 to
// 172.31.0.0/16 are given when none of those is free. A route of `used` to more than a /8 is one to
// everywhere and does not count.
std::vector<Ipv4Subnet> free_pools(std::span<const Ipv4Subnet> used);

}  // namespace hostler

// Which addresses are the world's, and which are somebody's inside.
#pragma once

#include <span>
#include <string_view>

#include "core/ip_address.h"

namespace hostler {

// True for addresses that the Internet at large is reached by. Not: loopback, private, shared, link-local
// (clouds' metadata), multicast, documentation, and IPv6 forms that carry an IPv4 address somewhere else
// (NAT64, 6to4, Teredo). Source: the special-purpose registries of IANA (RFC 6890), as of 2025.
bool is_public(const IpAddress& address);
// Those ranges, of IPv4 and IPv6, as text: for a firewall.
std::span<const std::string_view> ranges_inside();

}  // namespace hostler

// Which addresses are the world's, and which are somebody's inside.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.h"

namespace hostler {

// An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};

    static IpAddress v4(std::span<const std::uint8_t, 4> bytes);
    static IpAddress v6(std::span<const std::uint8_t, 16> bytes);
    bool operator==(const IpAddress&) const = default;
};

struct IpRange {
    IpAddress base;
    int bits = 0;  // Of the prefix, of 128.
    bool contains(const IpAddress& address) const;
};

// "10.1.2.3", "2001:db8::1"; no zone index. Errors: invalid.
Result<IpAddress> parse_ip(std::string_view text);
// "10.0.0.0/8", "fd00::/8", or an address alone. Errors: invalid, also with bits set behind the prefix.
Result<IpRange> parse_ip_range(std::string_view text);

// True for addresses that the Internet at large is reached by. Not: loopback, private, shared, link-local
// (clouds' metadata), multicast, documentation, and IPv6 forms that carry an IPv4 address somewhere else
// (NAT64, 6to4, Teredo). Source: the special-purpose registries of IANA (RFC 6890), as of 2025.
bool is_public(const IpAddress& address);
// Those ranges, of IPv4 and IPv6, as text: for a firewall.
std::span<const std::string_view> ranges_inside();

}  // namespace hostler

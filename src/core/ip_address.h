// Addresses of the internet and ranges of them, as values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

// An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};

    static IpAddress v4(std::span<const std::uint8_t, 4> bytes);
    static IpAddress v6(std::span<const std::uint8_t, 16> bytes);
    bool is_v4() const;
    IpAddress prefix(int bits) const;  // Its first bits of 128, and zeros.
    std::string bare_text() const;     // "192.0.2.1", "2001:db8::1"
    // "192.0.2.1", "[2001:db8::1]": as addresses of streams have it before the port.
    std::string text() const;
    bool operator==(const IpAddress&) const = default;
};

struct IpRange {
    IpAddress base;  // Any address in it.
    int bits = 0;    // Of the prefix, of 128.
    bool contains(const IpAddress& address) const { return address.prefix(bits) == base.prefix(bits); }
};

// "10.1.2.3", "2001:db8::1"; no zone index. Errors: invalid.
Result<IpAddress> parse_ip(std::string_view text);
// "10.0.0.0/8", "fd00::/8", or an address alone. Errors: invalid, also with bits set behind the prefix.
Result<IpRange> parse_ip_range(std::string_view text);
// Of a stream's address and the like, with or without a port: "192.0.2.1:80", "[2001:db8::1]:80",
// "[2001:db8::1]", and what parse_ip() takes.
std::optional<IpAddress> ip_in(std::string_view address);

}  // namespace hostler

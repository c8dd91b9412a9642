#include "domain/network/outside.h"

#include <algorithm>
#include <vector>

namespace hostler {

namespace {

// IPv6 hands out addresses from 2000::/3 alone.
constexpr std::string_view given_out_v6 = "2000::/3";
constexpr std::string_view inside[] = {
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",
    "2001::/23",     "2001:db8::/32",   "2002::/16",      "3fff::/20",
};

}  // namespace

std::span<const std::string_view> ranges_inside() { return inside; }

bool is_public(const IpAddress& address) {
    static const auto ranges = [] {
        std::vector<IpRange> all;
        for (const std::string_view text : inside) all.push_back(parse_ip_range(text).value());
        return all;
    }();
    static const IpRange v6 = parse_ip_range(given_out_v6).value();
    if (!address.is_v4() && !v6.contains(address)) return false;
    return std::ranges::none_of(ranges, [&](const IpRange& range) { return range.contains(address); });
}

}  // namespace hostler

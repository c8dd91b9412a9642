#include "domain/network/outside.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace hostler {

namespace {

bool is_v4(const IpAddress& address) {
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::ranges::equal(std::span{address.bytes}.first<12>(), mapped);
}

// IPv6 hands out addresses from 2000::/3 alone.
constexpr std::string_view given_out_v6 = "2000::/3";
constexpr std::string_view inside[] = {
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",
    "2001::/23",     "2001:db8::/32",   "2002::/16",      "3fff::/20",
};

}  // namespace

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> bytes) {
    IpAddress address;
    address.bytes[10] = address.bytes[11] = 0xff;
    std::ranges::copy(bytes, address.bytes.begin() + 12);
    return address;
}

IpAddress IpAddress::v6(std::span<const std::uint8_t, 16> bytes) {
    IpAddress address;
    std::ranges::copy(bytes, address.bytes.begin());
    return address;
}

bool IpRange::contains(const IpAddress& address) const {
    for (int bit = 0; bit < bits; ++bit) {
        const auto at = static_cast<std::size_t>(bit / 8);
        if (((base.bytes[at] ^ address.bytes[at]) >> (7 - bit % 8)) & 1) return false;
    }
    return true;
}

Result<IpAddress> parse_ip(std::string_view text) {
    const std::string copy{text};
    std::array<std::uint8_t, 16> bytes{};
    if (inet_pton(AF_INET, copy.c_str(), bytes.data()) == 1)
        return IpAddress::v4(std::span{bytes}.first<4>());
    if (inet_pton(AF_INET6, copy.c_str(), bytes.data()) == 1) return IpAddress::v6(bytes);
    return fail(Code::invalid, "\"" + copy + "\" is not an IP address");
}

Result<IpRange> parse_ip_range(std::string_view text) {
    const auto slash = text.find('/');
    const IpAddress base = TRY(parse_ip(text.substr(0, slash)));
    const int offset = is_v4(base) ? 96 : 0;
    int bits = 128 - offset;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
        if (error != std::errc{} || end != digits.data() + digits.size() || bits < 0 || bits > 128 - offset)
            return fail(Code::invalid,
                        "\"" + std::string{text} + "\" is not a range, as 10.0.0.0/8 or fd00::/8");
    }
    const IpRange range{base, bits + offset};
    for (int bit = range.bits; bit < 128; ++bit)
        if ((base.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8)) & 1)
            return fail(Code::invalid, "\"" + std::string{text} + "\" has bits set behind its prefix");
    return range;
}

std::span<const std::string_view> ranges_inside() { return inside; }

bool is_public(const IpAddress& address) {
    static const auto ranges = [] {
        std::vector<IpRange> all;
        for (const std::string_view text : inside) all.push_back(parse_ip_range(text).value());
        return all;
    }();
    static const IpRange v6 = parse_ip_range(given_out_v6).value();
    if (!is_v4(address) && !v6.contains(address)) return false;
    return std::ranges::none_of(ranges, [&](const IpRange& range) { return range.contains(address); });
}

}  // namespace hostler

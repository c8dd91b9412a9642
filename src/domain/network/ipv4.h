// IPv4 addresses and subnets as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostler {

// "10.201.3.1"; nullopt: anything else, as a number with a zero before it.
std::optional<std::uint32_t> parse_ipv4(std::string_view text);

struct Ipv4Subnet {
    std::uint32_t base = 0;
    int bits = 0;  // Of the prefix.
    std::uint32_t mask() const { return bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits); }
    bool contains(std::uint32_t address) const { return (address & mask()) == base; }
    bool overlaps(const Ipv4Subnet& other) const { return contains(other.base) || other.contains(base); }
    bool operator==(const Ipv4Subnet&) const = default;
};

// "10.201.3.0/24"; nullopt: anything else, also with bits set behind the prefix.
std::optional<Ipv4Subnet> parse_ipv4_subnet(std::string_view text);
// What parse_ipv4_subnet() reads.
std::string to_text(const Ipv4Subnet& subnet);

}  // namespace hostler

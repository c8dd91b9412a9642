#include "domain/network/network.h"

#include <fmt/format.h>

#include "domain/network/ipv4.h"

namespace hostler {

Result<AddressPool> AddressPool::parse(std::string_view cidr) {
    const auto range = parse_ipv4_subnet(cidr);
    if (!range || range->bits < 8 || range->bits > 24)
        return fail(Code::invalid,
                    fmt::format("'{}' is not an address range of /8 to /24 with nothing set behind "
                                "its prefix, as 10.208.0.0/12",
                                cidr));
    AddressPool pool;
    pool.base_ = range->base;
    pool.size_ = 1u << (24 - range->bits);
    return pool;
}

Result<std::uint32_t> AddressPool::pick(std::uint64_t lowest_free) const {
    if (lowest_free >= size_)
        return fail(Code::exhausted, fmt::format("all {} subnets of the network pool are in use", size_),
                    "no_subnet");
    return static_cast<std::uint32_t>(lowest_free);
}

std::string AddressPool::subnet(std::uint32_t index) const { return address(index, 0) + "/24"; }

std::optional<AddressPool::Place> AddressPool::place_of(std::string_view address) const {
    const auto at = parse_ipv4(address);
    if (!at || *at < base_ || (*at - base_) >> 8 >= size_) return std::nullopt;
    return Place{(*at - base_) >> 8, static_cast<int>((*at - base_) & 255)};
}

std::string AddressPool::address(std::uint32_t index, int place) const {
    const std::uint32_t at = base_ + (index << 8) + static_cast<std::uint32_t>(place);
    return fmt::format("{}.{}.{}.{}", at >> 24, at >> 16 & 255, at >> 8 & 255, at & 255);
}

}  // namespace hostler

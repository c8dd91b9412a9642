#include "domain/network/network.h"

#include <fmt/format.h>

#include <cstdio>

namespace hostler {

Result<AddressPool> AddressPool::parse(std::string_view cidr) {
    unsigned a = 0, b = 0, c = 0, d = 0, bits = 0;
    int length = 0;
    const std::string text{cidr};
    if (std::sscanf(text.c_str(), "%3u.%3u.%3u.%3u/%2u%n", &a, &b, &c, &d, &bits, &length) != 5 ||
        length != static_cast<int>(text.size()) || a > 255 || b > 255 || c > 255 || d > 255 || bits < 8 ||
        bits > 24)
        return fail(Code::invalid,
                    fmt::format("'{}' is not an address range of /8 to /24, as 10.208.0.0/12", cidr));
    AddressPool pool;
    pool.base_ = a << 24 | b << 16 | c << 8 | d;
    pool.size_ = 1u << (24 - bits);
    if (pool.base_ % (pool.size_ << 8) != 0)
        return fail(Code::invalid, fmt::format("'{}' has bits set behind its prefix", cidr));
    return pool;
}

Result<std::uint32_t> AddressPool::pick(const std::set<std::uint32_t>& taken) const {
    std::uint32_t candidate = 0;
    for (const std::uint32_t index : taken) {
        if (index != candidate) break;
        ++candidate;
    }
    if (candidate >= size_)
        return fail(Code::exhausted, fmt::format("all {} subnets of the network pool are in use", size_),
                    "no_subnet");
    return candidate;
}

std::string AddressPool::subnet(std::uint32_t index) const { return address(index, 0) + "/24"; }

std::string AddressPool::address(std::uint32_t index, int place) const {
    const std::uint32_t at = base_ + (index << 8) + static_cast<std::uint32_t>(place);
    return fmt::format("{}.{}.{}.{}", at >> 24, at >> 16 & 255, at >> 8 & 255, at & 255);
}

}  // namespace hostler

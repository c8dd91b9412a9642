#include "domain/network/network.h"

#include <fmt/format.h>

#include <ranges>

#include "domain/network/ipv4.h"

namespace hostler {

Result<AddressPool> AddressPool::parse(std::string_view ranges) {
    AddressPool pool;
    std::vector<Ipv4Subnet> known;
    for (const auto part : std::views::split(ranges, ',')) {
        const std::string_view text{part.begin(), part.end()};
        const auto range = parse_ipv4_subnet(text);
        if (!range || range->bits < 8 || range->bits > 24)
            return fail(Code::invalid,
                        fmt::format("'{}' is not an address range of /8 to /24 with nothing set behind "
                                    "its prefix, as 10.208.0.0/12",
                                    text));
        for (const Ipv4Subnet& other : known)
            if (range->overlaps(other))
                return fail(Code::invalid,
                            fmt::format("the address ranges {} and {} overlap", to_text(other), text));
        known.push_back(*range);
        pool.ranges_.push_back({.base = range->base, .first = pool.size(), .size = 1u << (24 - range->bits)});
    }
    if (pool.ranges_.empty()) return fail(Code::invalid, "no address range, as 10.208.0.0/12, is given");
    return pool;
}

std::uint32_t AddressPool::size() const {
    return ranges_.empty() ? 0 : ranges_.back().first + ranges_.back().size;
}

Result<std::uint32_t> AddressPool::pick(std::uint64_t lowest_free) const {
    if (lowest_free >= size())
        return fail(Code::exhausted, fmt::format("all {} subnets of the network pool are in use", size()),
                    "no_subnet");
    return static_cast<std::uint32_t>(lowest_free);
}

std::string AddressPool::subnet(std::uint32_t index) const { return address(index, 0) + "/24"; }

std::optional<AddressPool::Place> AddressPool::place_of(std::string_view address) const {
    const auto at = parse_ipv4(address);
    if (!at) return std::nullopt;
    for (const Range& range : ranges_)
        if (*at >= range.base && (*at - range.base) >> 8 < range.size)
            return Place{range.first + ((*at - range.base) >> 8), static_cast<int>((*at - range.base) & 255)};
    return std::nullopt;
}

// An index beyond all of them, of a time when the pool was larger, is behind the last one.
std::string AddressPool::address(std::uint32_t index, int place) const {
    auto range = std::prev(ranges_.end());
    while (range->first > index) --range;
    const std::uint32_t at = range->base + ((index - range->first) << 8) + static_cast<std::uint32_t>(place);
    return fmt::format("{}.{}.{}.{}", at >> 24, at >> 16 & 255, at >> 8 & 255, at & 255);
}

}  // namespace hostler

#include "domain/network/free_pools.h"

#include <algorithm>

namespace hostler {

namespace {

constexpr int used_bits_least = 8;
constexpr int pool_bits = 16;

std::vector<Ipv4Subnet> free_of(std::uint32_t first, std::uint32_t count, std::span<const Ipv4Subnet> used) {
    std::vector<Ipv4Subnet> pools;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Ipv4Subnet pool{first + (i << (32 - pool_bits)), pool_bits};
        if (std::ranges::none_of(used, [&](const Ipv4Subnet& network) {
                return network.bits >= used_bits_least && network.overlaps(pool);
            }))
            pools.push_back(pool);
    }
    return pools;
}

}  // namespace

std::vector<Ipv4Subnet> free_pools(std::span<const Ipv4Subnet> used) {
    constexpr std::uint32_t ten = 0x0ad0'0000, more = 0xac18'0000;  // 10.208.0.0, 172.24.0.0.
    auto pools = free_of(ten, 16, used);
    return pools.empty() ? free_of(more, 8, used) : pools;
}

}  // namespace hostler

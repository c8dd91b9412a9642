#include "adapters/curl/reach.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace hostler::curl {

namespace {

std::optional<IpAddress> address_of(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
        return IpAddress::v4(std::span<const std::uint8_t, 4>{reinterpret_cast<const std::uint8_t*>(&v4), 4});
    }
    if (address.sa_family == AF_INET6)
        return IpAddress::v6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr);
    return std::nullopt;
}

// What listens here trusts who comes from here, also under a public address. Unknown counts as one.
bool is_of_this_machine(const IpAddress& address) {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return true;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner{list, freeifaddrs};
    for (const ifaddrs* each = list; each; each = each->ifa_next)
        if (each->ifa_addr && address_of(*each->ifa_addr) == address) return true;
    return false;
}

bool holds(const std::vector<IpRange>& ranges, const IpAddress& address) {
    return std::ranges::any_of(ranges, [&](const IpRange& range) { return range.contains(address); });
}

}  // namespace

bool admits(const ReachPolicy& policy, Reach reach, const sockaddr& raw) {
    const auto address = address_of(raw);
    if (!address) return false;
    if (reach == Reach::anywhere) return true;
    if (holds(policy.refused, *address)) return false;
    return holds(policy.allowed, *address) || (is_public(*address) && !is_of_this_machine(*address));
}

}  // namespace hostler::curl

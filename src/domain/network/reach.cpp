#include "domain/network/reach.h"

#include <fmt/format.h>

namespace hostler {

Result<std::vector<Ipv4Subnet>> parse_tenant_reach(const std::vector<std::string>& ranges) {
    constexpr int bits_least = 8;
    if (ranges.size() > tenant_reach_max)
        return fail(Code::invalid, fmt::format("--tenant-reach has {} ranges; tenant_reach_max is {}",
                                               ranges.size(), tenant_reach_max));
    std::vector<Ipv4Subnet> parsed;
    for (const std::string& text : ranges) {
        const auto wrong = [&](std::string_view why) {
            return fail(Code::invalid, fmt::format("--tenant-reach '{}' {}", text, why));
        };
        if (text.contains(':')) return wrong("is of IPv6, which tenants do not have");
        const auto range = parse_ipv4_subnet(text.contains('/') ? text : text + "/32");
        if (!range)
            return wrong("is not a range of IPv4 with nothing set behind its prefix, as 10.20.0.0/16");
        if (range->bits < bits_least) return wrong("is larger than a /8");
        for (const Ipv4Subnet never :
             {Ipv4Subnet{0, 8}, Ipv4Subnet{0x7f000000, 8}, Ipv4Subnet{0xe0000000, 3}})
            if (never.overlaps(*range))
                return wrong("cannot be allowed: it is the host itself, multicast or reserved");
        parsed.push_back(*range);
    }
    return parsed;
}

}  // namespace hostler

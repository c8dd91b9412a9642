#include "ports/network.h"

#include <fmt/format.h>

#include "domain/network/ipv4.h"

namespace hostler {

Result<> validate(const NetworkSpec& spec) {
    constexpr std::size_t id_max = 128;
    if (spec.id.empty() || spec.id.size() > id_max)
        return fail(Code::invalid, fmt::format("'{}' is no id for a network", spec.id));
    const auto subnet = parse_ipv4_subnet(spec.subnet);
    if (!subnet)
        return fail(Code::invalid,
                    fmt::format("network {}: '{}' is not an IPv4 subnet", spec.id, spec.subnet));
    const auto gateway = parse_ipv4(spec.gateway);
    if (!gateway || !subnet->contains(*gateway))
        return fail(Code::invalid,
                    fmt::format("network {}: gateway '{}' is not in {}", spec.id, spec.gateway, spec.subnet));
    return {};
}

}  // namespace hostler

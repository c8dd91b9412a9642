#include "ports/network.h"

#include <fmt/format.h>

#include <boost/asio/ip/network_v4.hpp>

namespace hostler {

Result<> validate(const NetworkSpec& spec) {
    constexpr std::size_t id_max = 128;
    boost::system::error_code bad_subnet, bad_gateway;
    const auto subnet = asio::ip::make_network_v4(spec.subnet, bad_subnet);
    const auto gateway = asio::ip::make_address_v4(spec.gateway, bad_gateway);
    if (spec.id.empty() || spec.id.size() > id_max)
        return fail(Code::invalid, fmt::format("'{}' is no id for a network", spec.id));
    if (bad_subnet || subnet.canonical() != subnet)
        return fail(Code::invalid,
                    fmt::format("network {}: '{}' is not an IPv4 subnet", spec.id, spec.subnet));
    if (bad_gateway || !asio::ip::make_network_v4(gateway, 32).is_subnet_of(subnet))
        return fail(Code::invalid,
                    fmt::format("network {}: gateway '{}' is not in {}", spec.id, spec.gateway, spec.subnet));
    return {};
}

}  // namespace hostler

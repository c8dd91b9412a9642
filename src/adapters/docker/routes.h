// The host's IPv4 routes, as the kernel tells them by netlink.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "domain/network/ipv4.h"

namespace hostler::docker {

struct Route {
    Ipv4Subnet to;
    std::string device{};  // Empty: none of its own.
    bool on_link = false;  // Its machines are reached without a router.
};

// Unicast ones of all tables. Blocks, for less than a second. Errors: unavailable.
Result<std::vector<Route>> ipv4_routes();

// Networks that the host is connected to and whose addresses are public: what is private is refused to
// tenants wherever it lies. Not those of tenants' bridges, nor a route to half the Internet (a tunnel's) that
// needs no router. Sorted.
std::vector<Ipv4Subnet> connected_networks(const std::vector<Route>& routes);

}  // namespace hostler::docker

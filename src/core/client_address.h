// Whose a connection is, as far as limits go.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

// Connections of one client count together: an IPv4 address, or the /64 of an IPv6 address, since whoever has
// one address there has all of them. `address`: of a stream, with its port.
std::string client_of(std::string_view address);

}  // namespace hostler

// Whose a connection is, as far as limits go, and what program has it.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

// Connections of one client count together: an IPv4 address, or the /64 of an IPv6 address, since whoever has
// one address there has all of them. `address`: of a stream, with its port.
std::string client_of(std::string_view address);

// What a program calls itself in its User-Agent, on one line that is safe to show; at most so many bytes of
// it.
inline constexpr std::size_t user_agent_bytes_max = 200;
std::string safe_user_agent(std::string_view header);

}  // namespace hostler

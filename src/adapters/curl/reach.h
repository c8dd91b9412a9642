// Whether an address may be connected to.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "domain/network/outside.h"
#include "ports/outgoing.h"

namespace hostler::curl {

struct ReachPolicy {
    std::vector<IpRange> allowed{};  // For Reach::outside, beside the public ones.
    std::vector<IpRange> refused{};  // For it, whatever else is said.
};

// Of families other than IPv4 and IPv6 none.
bool admits(const ReachPolicy& policy, Reach reach, const sockaddr& address);

}  // namespace hostler::curl

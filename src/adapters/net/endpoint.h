// Addresses as people write them, and as the kernel wants them.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/timers.h"

namespace hostler::net {

struct Endpoint {
    sockaddr_storage storage{};
    socklen_t size = 0;

    sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
    const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
    std::string text() const;  // "10.0.0.7:4411", "[::1]:80", "unix:/run/x.sock".
};

// Asks the resolver when the host is a name. Errors: invalid (not an address), unavailable (no such name),
// timeout.
Task<std::vector<Endpoint>> resolve(Loop& loop, Timers& timers, std::string address, Duration deadline);

}  // namespace hostler::net

// Host names and addresses by which clients know a server: the alternative names of its certificate.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace hostler {

struct ServerNames {
    std::vector<std::string> dns;        // "api.example.com", "*.apps.example.com"
    std::vector<std::string> addresses;  // "127.0.0.1", "::1"
    bool empty() const { return dns.empty() && addresses.empty(); }
    bool operator==(const ServerNames&) const = default;
};

inline constexpr std::size_t server_names_max = 64;  // In one certificate.

// Each once, and addresses in the one spelling that they have. Errors: invalid, with all that cannot be one.
Result<ServerNames> checked(const ServerNames& names);

}  // namespace hostler

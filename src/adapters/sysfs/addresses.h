// Addresses by which other machines reach this one.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_files.h"

namespace hostler {

struct InterfaceAddress {
    std::string interface;
    std::string address;  // "192.0.2.7", "2001:db8::7"
};

// Of all interfaces that are up, IPv4 first, as the kernel has them; without loopback and link-local
// addresses.
std::vector<InterfaceAddress> interface_addresses();

inline constexpr std::size_t own_addresses_max = 16;

// Those of `all` that are the machine's own, each once, `own_addresses_max` at most. A bridge without a
// device of the machine among its ports, or below them, is one of containers or virtual machines.
std::vector<std::string> own_addresses(const KernelRoots& roots, const std::vector<InterfaceAddress>& all);

}  // namespace hostler

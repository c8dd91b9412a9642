// Drivers of clusters as an agent or a master has them, and how two of them tell whether they have the same.
#pragma once

#include <map>
#include <string>

#include "domain/cluster/driver.h"
#include "ports/digest.h"

namespace hostler {

struct KnownDriver {
    Driver driver;
    std::string digest;  // driver_digest() of it.
};
using Drivers = std::map<std::string, KnownDriver>;  // By name.

// All of a driver as JSON: members in their order, maps by key, no white space. The same on each machine.
std::string driver_text(const Driver& driver);
// The SHA-256 of that, in hex.
std::string driver_digest(const Driver& driver, const Digest& digest);

}  // namespace hostler

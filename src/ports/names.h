// Names of machines.
#pragma once

#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler {

class Names {
public:
    virtual ~Names() = default;
    // All that a name stands for now: "access.example.com:7441" → "192.0.2.7:7441", "192.0.2.8:7441". An
    // address stands for itself. Errors: invalid (neither), unavailable (no such name), timeout.
    virtual Task<std::vector<std::string>> addresses(std::string name, Duration deadline) = 0;
};

}  // namespace hostler

// A few things that a role must remember over a crash: commands done, the highest epoch seen, its
// certificate.
#pragma once

#include <map>
#include <string>

#include "core/task.h"

namespace hostler {

// A small durable map. put() and erase() return when the change would survive a power cut; a crash in the
// middle leaves it made or not made, never half. Values are at most 1 MiB, the whole at most 64 MiB.
class Journal {
public:
    virtual ~Journal() = default;
    virtual const std::map<std::string, std::string>& all() const = 0;
    virtual Task<> put(std::string key, std::string value) = 0;  // Errors: exhausted (disk), unavailable.
    virtual Task<> erase(std::string key) = 0;
};

}  // namespace hostler

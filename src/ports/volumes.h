// What outlives an instance, on one host's disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/task.h"

namespace hostler {

// Ids are plain names (core/names.h). Errors everywhere: unavailable. Repeatable calls.
class HostVolumes {
public:
    virtual ~HostVolumes() = default;
    // The folder to mount. A volume that exists is given back as it is. Errors: exhausted (the disk has not
    // so much room; nothing is left), invalid (an id that cannot be one).
    virtual Task<std::string> create(std::string id, std::uint64_t size_bytes) = 0;
    // With all that is in it, never following a link out of it. What is not there is removed. Errors:
    // invalid.
    virtual Task<> remove(std::string id) = 0;
    virtual Task<std::vector<std::string>> list() = 0;
    // Errors: not_found.
    virtual Task<std::string> path(std::string id) = 0;
};

}  // namespace hostler

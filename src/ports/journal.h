// A few things that a role must remember over a crash: commands done, the highest epoch seen, its
// certificate.
#pragma once

#include <map>
#include <string>

#include "core/task.h"

namespace hostler {

// A small durable map. put() and erase() return when the change would survive a power cut; a crash in the
// middle leaves it made or not made, never half. Changes take effect in the order of the calls.
class Journal {
public:
    virtual ~Journal() = default;
    virtual const std::map<std::string, std::string>& all() const = 0;
    // Errors: invalid (no key, or more than one entry may have), exhausted (the disk, or more than the whole
    // may have), unavailable.
    virtual Task<> put(std::string key, std::string value) = 0;
    virtual Task<> erase(std::string key) = 0;  // What is not there is erased. Errors: unavailable.

    static constexpr std::size_t key_bytes_max = 1024;
    static constexpr std::size_t value_bytes_max = 1 << 20;
    static constexpr std::size_t bytes_max = 64 << 20;  // Of all keys and values.
};

}  // namespace hostler

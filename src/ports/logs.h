// What ended instances have written, kept on their host for whoever asks why.
#pragma once

#include <string>

#include "core/task.h"

namespace hostler {

// Bounded in number and age by the adapter: the oldest go first. Repeatable calls.
class LogStore {
public:
    virtual ~LogStore() = default;
    // Replaces what was kept of `instance`. Of more than `text_max` bytes the first are dropped. Errors:
    // exhausted (disk), unavailable, invalid (no plain name, core/names.h).
    virtual Task<> keep(std::string instance, std::string text) = 0;
    // The last `bytes_max` bytes. Errors: not_found, unavailable.
    virtual Task<std::string> read(std::string instance, std::size_t bytes_max) = 0;

    static constexpr std::size_t text_max = 1 << 20;
};

}  // namespace hostler

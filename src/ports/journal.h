// A few things that a role must remember over a crash: commands done, the highest epoch seen, its
// certificate.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/task.h"

namespace hostler {

// A small durable map. A call returns when its change would survive a power cut; a crash in the middle leaves
// it made or not made, never half. Changes take effect in the order of the calls.
class Journal {
public:
    struct Entry {
        std::string key;
        std::string value;
    };

    virtual ~Journal() = default;
    virtual const std::map<std::string, std::string>& all() const = 0;
    // Errors: invalid (no key, or more than one entry may have), exhausted (the disk, or more than the whole
    // may have), unavailable.
    Task<> put(std::string key, std::string value) {
        std::vector<Entry> entries;
        entries.push_back({std::move(key), std::move(value)});
        return put_all(std::move(entries));
    }
    // Several at the cost of one. A crash in the middle leaves the first so many of them, each whole. Errors:
    // as put(); refused ones leave none.
    virtual Task<> put_all(std::vector<Entry> entries) = 0;
    virtual Task<> erase(std::string key) = 0;  // What is not there is erased. Errors: unavailable.

    // Once it returns, values that were replaced or erased are no longer on the disk, as far as its file
    // shows. Errors: unavailable. One that keeps no past has nothing to do.
    virtual Task<> forget_past() { co_return Result<>{}; }

    // Of what was durable, what could no longer be read when it was opened: a sentence that names the file.
    // Empty: nothing.
    virtual std::string damage() const { return {}; }

    static constexpr std::size_t key_bytes_max = 1024;
    // A frame of the wire, sealed.
    static constexpr std::size_t value_bytes_max = 2 << 20;
    static constexpr std::size_t bytes_max = 64 << 20;  // Of all keys and values.
};

}  // namespace hostler

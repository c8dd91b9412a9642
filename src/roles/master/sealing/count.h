// How many secrets in the store each key seals, as a whole look at it has found.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hostler::master {

struct SealingCount {
    std::uint64_t asked = 1;    // Rises when another key becomes the current one.
    std::uint64_t counted = 0;  // `asked` when the last whole look began; 0: there was none.
    std::map<std::string, std::uint64_t> values;  // By key, when that ended,
    std::int64_t at = 0;                          // in microseconds since 1970.
    std::string trouble;                          // Why the look after it did not get through; empty: it did.

    bool whole() const { return counted == asked; }
};

}  // namespace hostler::master

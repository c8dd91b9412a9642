// What every stored object has beside its own matter.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>

namespace hostler {

// Kept in the store's envelope, not in the body.
struct Meta {
    std::uint64_t generation = 1;  // Rises when what its owner wants changes.
    std::uint64_t created = 0;     // Commit that made it; 0: not committed so far.
    std::uint64_t version = 0;     // Commit that last changed it.
    bool operator==(const Meta&) const = default;
};

}  // namespace hostler

// What must not be read in the store stands there sealed, under keys that are nowhere in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler {

// A ring of keys, kept apart from the store. A key's id tells nothing of the key, and no other key has it.
class Sealer {
public:
    static constexpr std::size_t keys_max = 16;

    virtual ~Sealer() = default;
    virtual std::vector<std::string> keys() const = 0;  // Ids, in the order in which they came to be here.
    // Puts a new key into the ring and gives its id; durable when it returns. Errors: exhausted: there are
    // keys_max; unavailable.
    virtual Result<std::string> make() = 0;
    // Takes it out of the ring, durably; one that is not there is out. Errors: unavailable.
    virtual Result<> forget(std::string key) = 0;
    // Looks what was put into the ring from elsewhere. None that is here goes by it. Errors: unavailable,
    // invalid: the ring cannot be read.
    virtual Result<> read() = 0;
    // Printable ASCII without a colon. `place` says where it will stand, and is needed again to open it.
    // Errors: not_found: there is no such key.
    virtual Result<std::string> seal(std::string_view key, std::string_view place,
                                     std::string_view plain) const = 0;
    // Errors: not_found: there is no such key; unauthenticated: it is not what was sealed with this key for
    // this place.
    virtual Result<std::string> open(std::string_view key, std::string_view place,
                                     std::string_view sealed) const = 0;
};

}  // namespace hostler

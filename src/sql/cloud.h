// Which cloud a store is of: a lost store must not become a new cloud by itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::sql {

class Rows;

// A number that a store keeps for good (`meta`, also in backups and copies) and that stands beside the
// certificate authority, too.
struct Cloud {
    std::uint64_t mark = 0;   // What stands beside the authority; 0: nothing yet.
    bool in_use = false;      // The authority has served a store, even if it has no mark.
    bool begin = false;       // The operator wants a new cloud, if the store is empty.
    std::uint64_t fresh = 0;  // For a store that has no number yet.
    std::string authority;    // The folder, for people.

    bool served() const { return mark != 0 || in_use; }
};

// To be called in the transaction that brings the schema up to date; a refusal must undo that. Gives a store
// its number, and `cloud` the mark to write beside the authority. Errors: conflict: "store_lost" (it is
// empty), "store_of_another_cloud".
Result<> claim(Rows& rows, Cloud& cloud, std::string_view store);
std::unexpected<Error> store_lost(const Cloud& cloud, std::string_view store);

}  // namespace hostler::sql

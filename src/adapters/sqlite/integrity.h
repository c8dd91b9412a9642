// Whether the file of a store is as SQLite wrote it.
#pragma once

#include <string>

#include "adapters/sqlite/database.h"

namespace hostler::sqlite {

enum class Look {
    everywhere,  // Also whether each index has what its table has.
    quickly,     // At the structure only: what indexes hold is believed.
};

// A file of this size is looked at everywhere at each start; a larger one quickly after a crash, when
// somebody waits for the next leader, and everywhere after an orderly end (docs/operate/limits.md).
inline constexpr std::uint64_t quick_look_from_bytes = std::uint64_t{64} << 20;
// To be asked before the file is opened, which takes what a crash left into it. Errors: unavailable:
// "store_damaged": too short to be one, which SQLite would take for a new one.
Result<Look> look_for(const std::string& path, const std::string& vfs);

// Errors: unavailable: "store_damaged", with the first thing that is wrong.
Result<> check_file(Database& database, const std::string& path, Look look);

}  // namespace hostler::sqlite

// What a crash left in the log of commits, for the tables.
#pragma once

#include "adapters/sqlite/commit_log.h"
#include "adapters/sqlite/database.h"

namespace hostler::sqlite {

// Writes what the tables have not got; the caller has a transaction open, and clears the log once that is
// durable. Errors: unavailable: "store_damaged": commits behind a damaged place are whole, so that those in
// it are lost.
Result<> replay(Database& database, CommitLog& log);

inline std::string log_of(const std::string& path) { return path + "-log"; }
// The same for a store that no master uses: afterwards all of it is in the tables. Nothing is changed in one
// that was closed in order.
Result<> take_log(Database& database, const std::string& path, const std::string& vfs);

}  // namespace hostler::sqlite

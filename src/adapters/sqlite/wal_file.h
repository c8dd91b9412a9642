// The write-ahead log of a store that nobody has opened: looked at before SQLite would take a part of it.
#pragma once

#include <string>

#include "adapters/sqlite/wal.h"

namespace hostler::sqlite {

std::string wal_of(const std::string& path);

// To be asked before the store is opened. Puts a byte right that the disk changed, and says so in the log;
// says there, too, when the last commit is not whole and is dropped. Errors: unavailable ("store_damaged":
// commits that were durable are behind the damage; it cannot be read). A store that another process has is
// left to SQLite, which refuses it.
Result<> guard_wal(const std::string& path, const std::string& vfs);

// Where a damaged one would be cut: at the last commit before the damage, or at its beginning if the store's
// file has all of it. Errors: conflict ("nothing_damaged", "store_in_use"), unavailable ("store_damaged":
// what would be left is the state of no moment).
Result<Wal> look_for_cut(const std::string& path, const std::string& vfs);
Result<Wal> cut_wal(const std::string& path, const std::string& vfs);  // Cuts it there.

}  // namespace hostler::sqlite

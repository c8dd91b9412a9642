// The store in one SQLite file.
#pragma once

#include <memory>
#include <string>

#include "sql/cloud.h"
#include "sql/connection.h"
#include "sql/store.h"

namespace hostler {

struct SqliteOptions {
    std::string vfs{};                // Empty: the system's own.
    std::size_t log_bytes = 4 << 20;  // The log is written back into the file when it is so long.
    // Kept back for commits that make room: a log and a batch must fit.
    std::size_t reserve_bytes = 16 << 20;
    sql::BatchLimits batch{};
    // Of which cloud the store must be; null: nobody asks. Holds its mark once the store is open.
    std::shared_ptr<sql::Cloud> cloud{};
};

// Opens or makes the store and brings its schema up to date; blocks while it checks the file. Afterwards
// everything runs on `worker`, as sql/store.h says.
//
// Disk full: erasures and prune() still work, out of the reserve; other commits do again when the reserve
// could be taken back. After `unavailable` everything is refused until lead(), which opens the file anew.
//
// Errors: conflict (another process has the file: "store_in_use"; "store_lost", "store_of_another_cloud", as
// sql/cloud.h says: nothing is made or changed then), unavailable (damaged: "store_damaged";
// written by a newer release: "store_too_new"; cannot be read), exhausted.
Result<std::unique_ptr<Store>> open_sqlite(std::string path, Worker& worker, SqliteOptions options = {});

// Whether a file with something in it is where `cloud` must have one; nothing is opened or made. Errors:
// conflict: "store_lost".
Result<> check_sqlite_is_there(const std::string& path, const sql::Cloud& cloud);

enum class IfMissing { refuse, make };

// The same file for `hostler store`, while no master uses it: what it says is not changed by this; commits
// that were pending are in the tables. Errors: conflict ("store_in_use"), not_found ("store_not_made"),
// unavailable ("store_damaged").
Result<std::unique_ptr<sql::Connection>> open_sqlite_alone(std::string path, IfMissing missing,
                                                           std::string vfs = {});

// A log beside the file of a store, of which a part cannot be used.
struct SqliteCut {
    std::string log;            // Its path.
    std::uint64_t kept = 0;     // Commits in it before the damage,
    std::uint64_t dropped = 0;  // and those that can be recognized behind it.
    bool nothing_lost = false;  // The file has all of it already.
};
// Where the log would be cut; nothing is changed. Errors: conflict ("nothing_damaged", "store_in_use"),
// unavailable ("store_damaged": what would be left is the state of no moment).
Result<SqliteCut> look_for_sqlite_cut(const std::string& path);
// Cuts it there. Errors: the same.
Result<SqliteCut> cut_sqlite_log(const std::string& path);

}  // namespace hostler

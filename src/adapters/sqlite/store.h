// The store in one SQLite file.
#pragma once

#include <memory>
#include <string>

#include "core/worker.h"
#include "ports/store.h"

namespace hostler {

struct SqliteOptions {
    std::string vfs{};                // Empty: the system's own.
    std::size_t log_bytes = 4 << 20;  // The log is written back into the file when it is so long.
    // Kept back for commits that make room: a log and a batch must fit.
    std::size_t reserve_bytes = 16 << 20;
    std::size_t batch_changes_max = 256;  // Commits that share one sync,
    std::size_t batch_bytes_max = 8 << 20;  // and their size together.
};

// Opens or makes the store and brings its schema up to date; blocks while it checks the file. Afterwards
// everything runs on `worker`, which must be of the caller's loop and outlive the store.
//
// A commit takes its place in the order when commit() is called, not when it is awaited. It holds its caller
// until it is durable: that wait is the back-pressure, nobody is refused for being many. A caller that is
// cancelled leaves its commit in the queue. After a commit has failed with `exhausted` or `unavailable`, all
// that were called before it answered fail alike, so that what is written is always a beginning of what was
// decided.
//
// Disk full: erasures and prune() still work, out of the reserve; other commits do again when the reserve
// could be taken back. After `unavailable` everything is refused until lead(), which opens the file anew.
//
// Errors: conflict (another process has the file: "store_in_use"), unavailable (damaged: "store_damaged";
// written by a newer release: "store_too_new"; cannot be read), exhausted.
Result<std::unique_ptr<Store>> open_sqlite(std::string path, Worker& worker, SqliteOptions options = {});

}  // namespace hostler

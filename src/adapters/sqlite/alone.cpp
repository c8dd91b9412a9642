// A store that no master uses.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/integrity.h"
#include "adapters/sqlite/settle.h"
#include "adapters/sqlite/store.h"
#include "adapters/sqlite/wal_file.h"

namespace hostler {

namespace {

SqliteCut cut_of(const std::string& path, const sqlite::Wal& wal) {
    return {.log = sqlite::wal_of(path),
            .kept = wal.whole_commits,
            .dropped = wal.lost_commits,
            .nothing_lost = wal.behind == sqlite::Wal::Behind::in_the_store};
}

}  // namespace

Result<SqliteCut> look_for_sqlite_cut(const std::string& path) {
    return cut_of(path, TRY(sqlite::look_for_cut(path, "")));
}

Result<SqliteCut> cut_sqlite_log(const std::string& path) {
    return cut_of(path, TRY(sqlite::cut_wal(path, "")));
}

Result<std::unique_ptr<sql::Connection>> open_sqlite_alone(std::string path, IfMissing missing,
                                                           std::string vfs) {
    if (vfs.empty()) {
        const int flags = O_RDWR | O_CLOEXEC | (missing == IfMissing::make ? O_CREAT : 0);
        const int made = ::open(path.c_str(), flags, 0600);
        if (made < 0)
            return fail(Code::not_found, fmt::format("there is no store {}", path), "store_not_made");
        ::close(made);
    }
    TRY(sqlite::look_for(path, vfs));
    TRY(sqlite::guard_wal(path, vfs));
    auto database = TRY(sqlite::Database::open(path, vfs));
    TRY(database->script(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
        "PRAGMA temp_store = MEMORY"));
    TRY(sqlite::check_file(*database, path, sqlite::Look::everywhere));
    TRY(sqlite::settle(*database));
    return database;
}

}  // namespace hostler

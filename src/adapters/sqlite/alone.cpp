// A store that no master uses.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/store.h"

namespace hostler {

Result<std::unique_ptr<sql::Connection>> open_sqlite_alone(std::string path, IfMissing missing,
                                                           std::string vfs) {
    if (vfs.empty()) {
        const int flags = O_RDWR | O_CLOEXEC | (missing == IfMissing::make ? O_CREAT : 0);
        const int made = ::open(path.c_str(), flags, 0600);
        if (made < 0)
            return fail(Code::not_found, fmt::format("there is no store {}", path), "store_not_made");
        ::close(made);
    }
    auto database = TRY(sqlite::Database::open(path, vfs));
    TRY(database->script(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
        "PRAGMA temp_store = MEMORY"));
    std::string check;
    TRY(database->run("PRAGMA quick_check(1)", {}, [&](const sql::Row& row) { check = row.text(0); }));
    if (check != "ok")
        return fail(Code::unavailable, fmt::format("the store {} is damaged: {}", path, check),
                    "store_damaged");
    return database;
}

}  // namespace hostler

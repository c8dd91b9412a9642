// A store that no master uses.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/integrity.h"
#include "adapters/sqlite/settle.h"
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
    TRY(sqlite::look_for(path, vfs));
    auto database = TRY(sqlite::Database::open(path, vfs));
    TRY(database->script(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
        "PRAGMA temp_store = MEMORY"));
    TRY(sqlite::check_file(*database, path, sqlite::Look::everywhere));
    TRY(sqlite::settle(*database));
    return database;
}

}  // namespace hostler

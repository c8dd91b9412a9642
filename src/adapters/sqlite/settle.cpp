#include "adapters/sqlite/settle.h"

#include "sql/pending.h"

namespace hostler::sqlite {

Result<> settle(Database& database) {
    bool has_pending = false;
    TRY(database.run("SELECT 1 FROM sqlite_master WHERE name = 'pending'", {},
                     [&](const sql::Row&) { has_pending = true; }));
    if (!has_pending) return {};
    TRY(database.run("BEGIN IMMEDIATE"));
    auto written = sql::check_pending(database);
    if (written) written = sql::write_pending(database);
    if (written) written = database.run("DELETE FROM pending");
    if (written) written = database.run("COMMIT");
    if (!written && database.in_transaction()) (void)database.run("ROLLBACK");
    return written;
}

}  // namespace hostler::sqlite

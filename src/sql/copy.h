// Whole stores: from one database into another, and from a backup into a new one. Each in one transaction,
// which is committed only when what was written is what was read.
#pragma once

#include "core/timers.h"
#include "sql/dump.h"

namespace hostler::sql {

// Connections that nobody else uses meanwhile and that show one state for as long as a transaction lasts.
// Errors: conflict
// ("store_not_empty": the target; "store_not_made": the source has no tables), unavailable ("store_too_new":
// the source; "copy_differs": it was not committed), those of the connections.
Result<std::vector<TableSum>> copy(Connection& from, Connection& to, const Digest& digest);

struct Restore {
    std::int64_t time = 0;     // Now, microseconds since 1970.
    bool revoke_keys = false;  // No API key of the backup opens anything.
};
// What may be used once only, or was perhaps ended since, does not come back: sign-ins, share links, unused
// host tokens, remembered answers. Commits and epochs are counted on from far above the
// backup's, so that no number stands for two of them.
Result<BackupHead> restore(BackupReader& backup, Connection& to, const Digest& digest, const Restore& how);

// Notes in a store, whose last commits were lost and cut off, that it was so; within the caller's
// transaction. Commits and epochs are counted on as after a restore.
Result<> note_cut(Connection& connection, const std::string& message, WallTime now);

}  // namespace hostler::sql

// A store that no master leads, or a copy of one, with all commits in its tables.
#pragma once

#include "adapters/sqlite/database.h"

namespace hostler::sqlite {

// Writes to the tables what a master left pending. A store of an older release has nothing of the kind.
// Errors: as sql/pending.h says.
Result<> settle(Database& database);

}  // namespace hostler::sqlite

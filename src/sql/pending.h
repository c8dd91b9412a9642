// Commits that wait in one row each, durable, until many of them are written to the tables together: what
// several of them change in one page is written once. Transactions are the caller's.
#pragma once

#include <cstddef>

#include "ports/store.h"
#include "sql/connection.h"

namespace hostler::sql {

// `place`: how many are pending already. Rows are written over, which costs one page each.
Result<> keep_pending(Connection& connection, const Changes& changes, std::size_t place);
// Looks at each row before the first write_pending(). A row that was already written to the tables may be
// damaged: nobody reads it. A number that fell would make any row look so. Errors: unavailable
// ("store_damaged": a row with a commit that is nowhere else is not as it was written), the connection's.
Result<> check_pending(Connection& connection);
// Writes to the tables what is pending, in order. Errors: unavailable ("store_damaged": a row is not as it
// was written), the connection's.
Result<> write_pending(Connection& connection);

}  // namespace hostler::sql

// Takes a row out of a store that no master uses.
#pragma once

#include <string>

#include "core/timers.h"
#include "sql/connection.h"

namespace hostler::sql {

// The row of an object as it lies there, damaged or not: a line for each of its columns, an empty line, and
// its body byte for byte. Errors: not_found; conflict ("store_not_made"); the connection's.
Result<std::string> text_of_row(Connection& connection, const std::string& kind, const std::string& id);
// Takes it out, as a commit of its own with an event "dropped"; the caller has a transaction open. Masters
// that have a copy of the store read it again. Errors: as text_of_row().
Result<> drop_row(Connection& connection, const std::string& kind, const std::string& id, WallTime now);

}  // namespace hostler::sql

// A store as an operator names it: for `hostler store`, `backup` and `restore`.
#pragma once

#include <istream>
#include <memory>
#include <string>

#include "sql/dump.h"

namespace hostler::bin {

enum class Opened { there, new_too };

// `where`: "postgresql://…", the file of a store, or the folder of a master (--data); a new one without an
// extension is such a folder. Errors: as open_sqlite_alone() and open_postgres_alone().
Result<std::unique_ptr<sql::Connection>> open_alone(const std::string& where, Opened which);

sql::Bytes file_bytes(std::istream& stream);  // That outlives it.

}  // namespace hostler::bin

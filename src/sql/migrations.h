// The schema, built into the library from schema/*.sql. `TEXT` is sorted by its bytes; `BLOB` holds any
// bytes.
#pragma once

#include <span>
#include <string_view>

namespace hostler::sql {

struct Migration {
    int number;
    std::string_view name;
    std::string_view sql;
};

// Numbered 1, 2, …; each is run once, in order, and never changed after a release.
std::span<const Migration> migrations();

}  // namespace hostler::sql

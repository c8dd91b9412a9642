// The schema, built into the library from schema/*.sql.
#pragma once

#include <span>
#include <string_view>

namespace hostler::sqlite {

struct Migration {
    int number;
    std::string_view name;
    std::string_view sql;
};

// Numbered 1, 2, …; each is run once, in order, and never changed after a release.
std::span<const Migration> migrations();

}  // namespace hostler::sqlite

// Where a list goes on: what a client gets as nextCursor and sends back as ?cursor=. It belongs to the list
// that made it, and to no other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::api {

struct Operation;

struct Cursor {
    std::uint64_t list = 0;     // Of list_mark().
    std::uint64_t at = 0;       // The commit at which the list was begun; 0: it shows what is there now.
    std::uint64_t created = 0;  // The last row told: the commit that made it,
    std::string id;             // and its id.
    bool operator==(const Cursor&) const = default;
};

// Tells lists apart: the operation, whose things it shows, and what was asked for (the request as JSON).
std::uint64_t list_mark(const Operation& operation, std::string_view tenant, std::string_view request);

std::string to_string(const Cursor& cursor);
Result<Cursor> parse_cursor(std::string_view text);  // Errors: invalid.

inline constexpr std::string_view foreign_cursor = "is no cursor of this list";

}  // namespace hostler::api

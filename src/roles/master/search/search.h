// Finds objects by id or name.
//
// First those that are called so, or begin so: by the order of ids and by indexes of names. Where the limit
// is not reached by these, rows are compared one by one: in the whole cloud for callers who may read it, else
// in the tenants of the caller; the kinds with the fewest rows first, up to a bound for all of them together.
#pragma once

#include <cstddef>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Search;
struct SearchResult;
}  // namespace hostler::api

namespace hostler::master {

inline constexpr std::size_t search_rows_max = 5000;  // Compared one by one, of all kinds together.
inline constexpr std::size_t search_begins_max =
    500;  // Looked at of each kind because their id or name begins so.
inline constexpr std::size_t search_tenants_max = 200;  // Of a caller.

api::SearchResult search(const Desk& desk, const api::Caller& caller, const api::Search& request);

}  // namespace hostler::master

// Whether a store agrees with itself: envelopes, numbers, and the ledger with the claims.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ports/store.h"
#include "sql/connection.h"

namespace hostler::sql {

struct Finding {
    std::string subject;  // Kind and id: "claim/c-…".
    std::string message;  // What is wrong with it.
    bool operator==(const Finding&) const = default;
};

inline constexpr std::size_t findings_max = 1000;

// All that is wrong, up to findings_max, of a store that is of this schema. Errors: conflict
// ("store_not_made"), unavailable ("store_too_new"), the connection's.
Result<std::vector<Finding>> check(Connection& connection);

// The objects that have ended and are kept to be read; the damaged ones are check()'s to tell.
Result<> each_ended(Connection& connection, const std::function<void(Object)>& seen);

}  // namespace hostler::sql

// A reservation for the job that is blocked for longest, and what may run in the meantime (EASY backfill).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/order/amount.h"

namespace hostler {

// A running job that ends by its time limit. One without a limit never frees anything: it is not told.
struct Ending {
    std::string where;  // A host, or a pool.
    Amount size;
    std::int64_t at = 0;  // Microseconds; one that is over ends now.
};

struct Reservation {
    std::string job;
    std::string where;
    std::int64_t at = 0;  // It starts then at the latest, if all end by their limits.
    Amount spare;         // Free there at that time beside the job.
    bool operator==(const Reservation&) const = default;
};

// The earliest time at which the amount is free in one place, by the first name. nullopt: it never is.
// O(endings × log endings).
std::optional<Reservation> reserve(const std::string& job, const Amount& size,
                                   const std::map<std::string, Amount>& free, std::vector<Ending> endings,
                                   std::int64_t now);

// A job that starts now does not delay the reserved one: it runs elsewhere, it ends in time (nullopt: it has
// no time limit), or it takes only what is spare then.
bool may_backfill(const Reservation&, const std::string& where, const Amount& size,
                  std::optional<std::int64_t> ends_at);

// The job starts there: less is spare. Only after may_backfill.
void backfill(Reservation&, const std::string& where, const Amount& size,
              std::optional<std::int64_t> ends_at);

}  // namespace hostler

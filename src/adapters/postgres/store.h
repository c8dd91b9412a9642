// The store in a PostgreSQL database.
#pragma once

#include <memory>
#include <string>

#include "sql/cloud.h"
#include "sql/connection.h"
#include "sql/store.h"

namespace hostler {

struct PostgresOptions {
    std::chrono::milliseconds connect_max{10'000};
    std::chrono::milliseconds call_max{30'000};  // Longer without an answer: the connection is given up.
    std::chrono::milliseconds lease_max{2'000};  // The same for the lease, and to connect for it.
    // A leader whose loop stands still keeps the lease so long. 0: only the loop renews it.
    std::chrono::milliseconds stall_max{2'000};
    sql::BatchLimits batch{};
    // Of which cloud the store must be; null: nobody asks. Holds its mark once the store is open.
    std::shared_ptr<sql::Cloud> cloud{};
};

// `url`: as libpq takes it, "postgresql://user@host/database?sslmode=verify-full". Makes the tables in the
// connection's schema, or brings them up to date; blocks meanwhile. Afterwards everything runs on `worker`,
// as sql/store.h says, and the lease on `lease_worker`. Many masters may have it open: who holds the lease
// writes, fenced by its epoch. A store without a synchronous standby is one disk away from its loss: that is
// logged as a warning. After `unavailable` everything is refused until lead(), which connects anew.
//
// Errors: invalid (the URL), conflict ("store_lost", "store_of_another_cloud", as sql/cloud.h says: no table
// is made then), unavailable ("store_too_new"; cannot be reached; refuses this user; is a standby:
// "store_read_only"), exhausted.
Result<std::unique_ptr<Store>> open_postgres(std::string url, Worker& worker, Worker& lease_worker,
                                             PostgresOptions options = {});

// The same database for `hostler store`, while no master uses it: a transaction there shows one state.
// Nothing is changed by this. Errors: conflict ("store_in_use"), invalid (the URL), unavailable.
Result<std::unique_ptr<sql::Connection>> open_postgres_alone(const std::string& url);

}  // namespace hostler

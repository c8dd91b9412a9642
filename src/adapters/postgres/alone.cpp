// A store that no master uses.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/postgres/tables.h"

namespace hostler {

namespace {

std::unexpected<Error> in_use(const postgres::Connection& connection, std::string_view by) {
    return fail(Code::conflict,
                fmt::format("the store {} is in use by {}; stop that first", connection.name(), by),
                "store_in_use");
}

}  // namespace

Result<std::unique_ptr<sql::Connection>> open_postgres_alone(const std::string& url) {
    constexpr std::chrono::seconds connect_max{10};
    constexpr std::chrono::minutes call_max{10};  // A sum over a table is one call.
    auto connection = TRY(postgres::Connection::open(url, connect_max, call_max));
    TRY(connection->script(
        "SET synchronous_commit = on; SET default_transaction_isolation = 'repeatable read'; "
        "SET idle_in_transaction_session_timeout = '10min'; SET client_encoding = 'UTF8'; "
        "SET search_path = \"$user\", public; SET lock_timeout = '10s'"));
    // Masters that start wait for it.
    if (const auto locked = connection->run("SELECT 1 FROM pg_advisory_lock(?1)", {postgres::tables_lock});
        !locked)
        return connection->lost() ? Result<std::unique_ptr<sql::Connection>>{std::unexpected(locked.error())}
                                  : in_use(*connection, "another `hostler store`");
    const auto forms = TRY(connection->forms());
    if (std::ranges::none_of(forms, [](const sql::Form& form) { return form.table == "lease"; }))
        return connection;
    std::string leader;
    TRY(connection->run(
        "SELECT name FROM lease WHERE ends > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", {},
        [&](const sql::Row& row) { leader = row.text(0); }));
    if (!leader.empty()) return in_use(*connection, fmt::format("master {}", leader));
    return connection;
}

}  // namespace hostler

#include "adapters/postgres/tables.h"

#include <fmt/format.h>

#include "core/log.h"

namespace hostler::postgres {

namespace {

// Advisory locks are numbers; this is "hostler" in ASCII.
constexpr std::int64_t lock = 0x686f73746c6572;

}  // namespace

Result<std::unique_ptr<Tables>> Tables::open(std::string url, PostgresOptions options) {
    std::unique_ptr<Tables> tables{new Tables{std::move(url), options}};
    TRY(tables->connect());
    return tables;
}

Result<> Tables::connect() {
    connection_.reset();
    connection_ = TRY(Connection::open(url_, options_.connect_max, options_.call_max));
    TRY(prepare_session());
    TRY(take_lock());
    TRY(migrate());
    TRY(warn_without_standby());
    broken_ = false;
    return {};
}

// A master that is stopped in the middle of a transaction must not keep its row lock from the next one.
Result<> Tables::prepare_session() {
    return connection_->script(
        "SET synchronous_commit = on; SET default_transaction_isolation = 'read committed'; "
        "SET idle_in_transaction_session_timeout = '2s'; SET lock_timeout = '10s'; SET client_encoding = "
        "'UTF8'; "
        "SET search_path = \"$user\", public");
}

Result<> Tables::take_lock() {
    bool taken = false;
    TRY(connection_->run("SELECT pg_try_advisory_lock(?1)::int", {lock},
                         [&](const sql::Row& row) { taken = row.number(0) != 0; }));
    if (!taken)
        return fail(
            Code::conflict,
            fmt::format("the store {} is in use by another master; stop that one or use another database",
                        connection_->name()),
            "store_in_use");
    return {};
}

Result<> Tables::migrate() {
    return transact([&]() -> Result<> {
        std::uint64_t tables = 0;
        TRY(
            connection_->run("SELECT count(*) FROM pg_tables WHERE tablename = 'meta' AND schemaname = "
                             "current_schema()",
                             {}, [&](const sql::Row& row) { tables = row.number(0); }));
        return sql::Rows{*connection_}.migrate(tables != 0, connection_->name());
    });
}

Result<> Tables::warn_without_standby() {
    std::string names;
    TRY(connection_->run("SHOW synchronous_standby_names", {},
                         [&](const sql::Row& row) { names = row.text(0); }));
    if (names.empty())
        log_warn("the store {} has no synchronous standby: what was acknowledged is lost with its disk",
                 connection_->name());
    return {};
}

// Errors: unavailable: it is not usable before lead().
Result<sql::Rows> Tables::rows() {
    if (broken_ || !connection_)
        return fail(Code::unavailable,
                    "the connection to the store was lost, and the outcome of what was under way is unknown; "
                    "lead again");
    return sql::Rows{*connection_};
}

Result<> Tables::transact(const std::function<Result<>()>& body) {
    Result<> result = connection_->run("BEGIN");
    if (result) result = body();
    const bool wanted = result.has_value();
    if (wanted) result = connection_->run("COMMIT");
    if (result) return result;
    // Refused before it was asked to commit: nothing is written, if only the connection is still there to say
    // so.
    if (wanted || connection_->lost() || !connection_->run("ROLLBACK")) broken_ = true;
    if (broken_ && result.error().code != Code::unavailable)
        return fail(Code::unavailable,
                    fmt::format("{}, and it is unknown what was written", result.error().message));
    return result;
}

Result<std::uint64_t> Tables::lead(std::uint64_t above) {
    TRY(sql::epoch_after(0, above));
    if (broken_ || !connection_ || connection_->lost()) TRY(connect());
    sql::Rows rows{*connection_};
    std::uint64_t epoch = 0;
    TRY(transact([&]() -> Result<> {
        std::uint64_t present = 0;
        TRY(connection_->run("SELECT value FROM meta WHERE name = 'epoch' FOR UPDATE", {},
                             [&](const sql::Row& row) { present = row.number(0); }));
        epoch = TRY(sql::epoch_after(present, above));
        return rows.set_meta("epoch", epoch);
    }));
    return epoch;
}

std::vector<Result<>> Tables::commit(const std::vector<Changes>& batch) {
    const auto all = [&](const Error& error) {
        return std::vector<Result<>>(batch.size(), std::unexpected(error));
    };
    if (const auto usable = rows(); !usable) return all(usable.error());
    std::vector<Result<>> answers(batch.size());
    auto written = write(batch, answers, /*one_by_one=*/false);
    // Somebody's value cannot be held: found by writing each behind a savepoint of its own.
    if (!written && written.error().code == Code::invalid)
        written = write(batch, answers, /*one_by_one=*/true);
    return written ? answers : all(written.error());
}

Result<> Tables::write(const std::vector<Changes>& batch, std::vector<Result<>>& answers, bool one_by_one) {
    sql::Rows rows{*connection_};
    return transact([&]() -> Result<> {
        std::uint64_t epoch = 0, number = 0;
        // The lock holds until the end: nobody becomes the leader in the middle of this.
        TRY(connection_->run(
            "SELECT name, value FROM meta WHERE name IN ('epoch', 'number') ORDER BY name FOR UPDATE", {},
            [&](const sql::Row& row) { (row.text(0) == "epoch" ? epoch : number) = row.number(1); }));
        const std::uint64_t before = number;
        if (!one_by_one) connection_->pipeline();
        Result<> result{};
        for (std::size_t i = 0; i < batch.size() && result; ++i) {
            answers[i] = sql::admit(batch[i], epoch, number);
            if (!answers[i]) continue;
            if (one_by_one) {
                TRY(connection_->run("SAVEPOINT one"));
                answers[i] = rows.write(batch[i]);
                if (!answers[i] && answers[i].error().code != Code::invalid) return answers[i];
                TRY(connection_->run(answers[i] ? "RELEASE SAVEPOINT one" : "ROLLBACK TO SAVEPOINT one"));
                if (!answers[i]) continue;
            } else {
                result = rows.write(batch[i]);
            }
            number = batch[i].number;
        }
        if (result && number != before) result = rows.set_meta("number", number);
        const auto settled = connection_->settle();
        return settled ? result : settled;
    });
}

template <class T>
Result<T> Tables::read(const std::function<Result<T>(sql::Rows&)>& body) {
    auto rows = TRY(this->rows());
    Result<T> answer = body(rows);
    if (connection_->lost()) broken_ = true;
    return answer;
}

Result<Snapshot> Tables::load() {
    return read<Snapshot>([&](sql::Rows& rows) -> Result<Snapshot> {
        // One view of both: nobody commits between its number and its rows.
        Snapshot snapshot;
        TRY(transact([&]() -> Result<> {
            TRY(connection_->run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
            snapshot = TRY(rows.load());
            return {};
        }));
        return snapshot;
    });
}

Result<Page> Tables::list(const ListQuery& query) {
    return read<Page>([&](sql::Rows& rows) { return rows.list(query); });
}

Result<Object> Tables::find(const std::string& kind, const std::string& id) {
    return read<Object>([&](sql::Rows& rows) { return rows.find(kind, id); });
}

Result<std::vector<EventRecord>> Tables::events(const EventQuery& query) {
    return read<std::vector<EventRecord>>([&](sql::Rows& rows) { return rows.events(query); });
}

Result<bool> Tables::prune(WallTime before) {
    return read<bool>([&](sql::Rows& rows) -> Result<bool> {
        bool more = false;
        TRY(transact([&]() -> Result<> {
            more = TRY(rows.prune(before));
            return {};
        }));
        return more;
    });
}

}  // namespace hostler::postgres

namespace hostler {

Result<std::unique_ptr<Store>> open_postgres(std::string url, Worker& worker, PostgresOptions options) {
    return sql::make_store(worker, TRY(postgres::Tables::open(std::move(url), options)), options.batch);
}

}  // namespace hostler

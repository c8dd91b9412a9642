#include "adapters/postgres/tables.h"

#include <fmt/format.h>

#include "adapters/postgres/kept_lease.h"
#include "core/log.h"

namespace hostler::postgres {

namespace {

Result<> prepare_session(Connection& connection) {
    return connection.script(
        "SET synchronous_commit = on; SET default_transaction_isolation = 'read committed'; "
        "SET lock_timeout = '10s'; SET client_encoding = "
        "'UTF8'; "
        "SET search_path = \"$user\", public");
}

// The server's clock, and which life of the server it is of: after a failover it is another machine's.
struct Now {
    std::int64_t time = 0;
    std::int64_t server = 0;
};
Result<Now> now(sql::Connection& connection) {
    Now now;
    TRY(connection.run(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, "
        "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint",
        {}, [&](const sql::Row& row) {
            now = {static_cast<std::int64_t>(row.number(0)), static_cast<std::int64_t>(row.number(1))};
        }));
    return now;
}

std::int64_t micros(Duration time) { return std::chrono::ceil<std::chrono::microseconds>(time).count(); }

std::unexpected<Error> held(const Contender& by) {
    return fail(Code::conflict, fmt::format("master {} at {} leads", by.name, by.address), "lease_held");
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::open(std::string url, PostgresOptions options) {
    std::unique_ptr<Tables> tables{new Tables{std::move(url), options}};
    TRY(tables->connect());
    return tables;
}

Result<> Tables::connect() {
    connection_.reset();
    connection_ = TRY(Connection::open(url_, options_.connect_max, options_.call_max));
    TRY(prepare_session(*connection_));
    TRY(migrate());
    TRY(warn_without_standby());
    broken_ = false;
    reopened_ = true;
    return {};
}

Result<> Tables::migrate() {
    return transact(begin(), [&]() -> Result<> {
        // Masters that start together on an empty database make its tables once.
        TRY(connection_->run("SELECT 1 FROM pg_advisory_xact_lock(?1)", {tables_lock}));
        std::uint64_t tables = 0;
        TRY(
            connection_->run("SELECT count(*) FROM pg_tables WHERE tablename = 'meta' AND schemaname = "
                             "current_schema()",
                             {}, [&](const sql::Row& row) { tables = row.number(0); }));
        sql::Rows rows{*connection_};
        TRY(rows.migrate(tables != 0, connection_->name()));
        return options_.cloud ? sql::claim(rows, *options_.cloud, connection_->name()) : Result<>{};
    });
}

Result<> Tables::warn_without_standby() {
    std::string names;
    TRY(connection_->run("SHOW synchronous_standby_names", {},
                         [&](const sql::Row& row) { names = row.text(0); }));
    if (names.empty())
        log_warn(
            "the store {} has no synchronous standby: if its disk is lost, acknowledged changes are lost",
            connection_->name());
    return {};
}

namespace {

std::unexpected<Error> unknown_outcome() {
    return fail(Code::unavailable,
                "the connection to the store was lost, and the outcome of what was under way is unknown; "
                "lead again");
}

}  // namespace

// Errors: unavailable: the connection was lost.
Result<sql::Rows> Tables::rows() {
    if (broken_ || !connection_) return unknown_outcome();
    return sql::Rows{*connection_};
}

Result<> Tables::begin() { return connection_->run("BEGIN"); }

// Whoever works on a store that no master uses has it alone until he is done. In one way there and back.
Result<> Tables::begin_writing() {
    const auto begun =
        connection_->script(fmt::format("BEGIN; SELECT pg_advisory_xact_lock_shared({})", tables_lock));
    if (begun || connection_->lost()) return begun;
    return fail(Code::unavailable,
                fmt::format("the store {} is in use by `hostler store`: {}", connection_->name(),
                            begun.error().message),
                "store_in_use");
}

Result<> Tables::transact(Result<> begun, const std::function<Result<>()>& body) {
    Result<> result = std::move(begun);
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

Result<Lease> Tables::lead(const Contender& who, Duration length, std::uint64_t above) {
    TRY(sql::epoch_after(0, above));
    if (broken_ || !connection_ || connection_->lost()) TRY(connect());
    // A master that is stopped in the middle of a transaction keeps its row locks from the next one no longer
    // than its lease.
    TRY(connection_->script(fmt::format("SET idle_in_transaction_session_timeout = {}",
                                        std::max<std::int64_t>(micros(length) / 1000, 1))));
    sql::Rows rows{*connection_};
    std::optional<Contender> holder;
    std::uint64_t epoch = 0;
    TRY(transact(begin_writing(), [&]() -> Result<> {
        std::uint64_t present = 0;
        // What the one before commits is there, or will be refused.
        TRY(connection_->run("SELECT value FROM meta WHERE name = 'epoch' FOR UPDATE", {},
                             [&](const sql::Row& row) { present = row.number(0); }));
        TRY(connection_->run("SELECT 1 FROM lease WHERE one = 1 FOR UPDATE"));
        auto lease = TRY(rows.lease());
        const Now at = TRY(now(*connection_));
        const bool ours = led_ != 0 && lease.epoch == led_;
        const auto is = ours ? sql::LeaseIs::free : lease_is(lease, at.time, at.server, micros(length));
        if (is == sql::LeaseIs::held) return held(lease.who);
        if (is == sql::LeaseIs::unclear) {
            lease.server = at.server;
            lease.ends = at.time + micros(length);
            holder = lease.who;
            return rows.set_lease(lease);
        }
        // It may have been opened long ago: a newer release has led since.
        TRY(rows.check_schema(connection_->name()));
        epoch = TRY(sql::epoch_after(present, above));
        TRY(rows.set_meta("epoch", epoch));
        return rows.set_lease(
            {.who = who, .epoch = epoch, .ends = at.time + micros(length), .server = at.server});
    }));
    if (holder) return held(*holder);
    led_ = epoch;
    reopened_ = false;
    return Lease{.epoch = epoch};
}

std::vector<Result<>> Tables::commit(const std::vector<Changes>& batch) {
    const auto all = [&](const Error& error) {
        return std::vector<Result<>>(batch.size(), std::unexpected(error));
    };
    if (broken_ || !connection_ || reopened_) return all(unknown_outcome().error());
    std::vector<Result<>> answers(batch.size());
    auto written = write(batch, answers, /*one_by_one=*/false);
    // Somebody's value cannot be held: found by writing each behind a savepoint of its own.
    if (!written && written.error().code == Code::invalid)
        written = write(batch, answers, /*one_by_one=*/true);
    return written ? answers : all(written.error());
}

Result<> Tables::write(const std::vector<Changes>& batch, std::vector<Result<>>& answers, bool one_by_one) {
    sql::Rows rows{*connection_};
    return transact(begin_writing(), [&]() -> Result<> {
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
            if (result) result = rows.note_changed(batch[i]);
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

// One view of all: nobody commits between its number and its rows. Also for a master that has not led yet, or
// has lost its connection.
Result<Snapshot> Tables::load_by(const std::function<Result<Snapshot>(sql::Rows&, std::int64_t life)>& load) {
    if (broken_ || !connection_ || connection_->lost()) TRY(connect());
    return read<Snapshot>([&](sql::Rows& rows) -> Result<Snapshot> {
        Snapshot snapshot;
        TRY(transact(begin(), [&]() -> Result<> {
            TRY(connection_->run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
            const std::int64_t life = TRY(now(*connection_)).server;
            snapshot = TRY(load(rows, life));
            snapshot.life = life;
            return {};
        }));
        return snapshot;
    });
}

Result<Snapshot> Tables::load() {
    return load_by([](sql::Rows& rows, std::int64_t) { return rows.load(); });
}

Result<Snapshot> Tables::load_since(StorePoint point) {
    return load_by([point](sql::Rows& rows, std::int64_t life) {
        return life == point.life ? rows.load_since(point.number) : rows.load();
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

Result<AuditPage> Tables::audit(const AuditQuery& query) {
    return read<AuditPage>([&](sql::Rows& rows) { return rows.audit(query); });
}

Result<AuditAnchors> Tables::audit_anchors(std::uint64_t after, std::size_t limit) {
    return read<AuditAnchors>([&](sql::Rows& rows) { return rows.audit_anchors(after, limit); });
}

Result<sql::Rows::Pruned> Tables::prune_audit(WallTime before) {
    return read<sql::Rows::Pruned>([&](sql::Rows& rows) -> Result<sql::Rows::Pruned> {
        sql::Rows::Pruned pruned;
        TRY(transact(begin_writing(), [&]() -> Result<> {
            pruned = TRY(rows.prune_audit(before));
            return {};
        }));
        return pruned;
    });
}

Result<bool> Tables::prune(WallTime before) {
    return read<bool>([&](sql::Rows& rows) -> Result<bool> {
        bool more = false;
        TRY(transact(begin_writing(), [&]() -> Result<> {
            more = TRY(rows.prune(before));
            return {};
        }));
        return more;
    });
}

namespace {

// A connection of its own, in a transaction that shows the state at its first statement.
class OwnSnapshot final : public sql::Reading {
public:
    explicit OwnSnapshot(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
    Result<bool> prepare() override {
        TRY(connection_->script(
            "SET idle_in_transaction_session_timeout = '10min'; "
            "SET search_path = \"$user\", public; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
        return false;
    }
    sql::Connection& connection() override { return *connection_; }

private:
    std::unique_ptr<Connection> connection_;
};

}  // namespace

Result<std::shared_ptr<sql::Reading>> Tables::begin_reading() {
    return std::make_shared<OwnSnapshot>(
        TRY(Connection::open(url_, options_.connect_max, options_.call_max)));
}

Result<sql::Rows> LeaseRows::rows() {
    if (!connection_ || connection_->lost()) {
        connection_.reset();
        connection_ = TRY(Connection::open(url_, options_.lease_max, options_.lease_max));
        TRY(prepare_session(*connection_));
    }
    return sql::Rows{*connection_};
}

Result<> LeaseRows::renew(std::uint64_t epoch, Duration length) { return set_end(epoch, micros(length)); }

Result<> LeaseRows::resign(std::uint64_t epoch) { return set_end(epoch, 0); }

// 0: it is over, whatever the time.
Result<> LeaseRows::set_end(std::uint64_t epoch, std::int64_t after_us) {
    TRY(rows());
    const Now at = TRY(now(*connection_));
    const std::int64_t ends = after_us == 0 ? 0 : at.time + after_us;
    TRY(connection_->run("UPDATE lease SET ends = ?1, server = ?2 WHERE one = 1 AND epoch = ?3",
                         {ends, at.server, epoch}));
    if (connection_->changes() != 1)
        return fail(Code::conflict, fmt::format("epoch {} is over: another master has led since", epoch),
                    "not_leader");
    return {};
}

Result<std::optional<Leader>> LeaseRows::leader() {
    auto rows = TRY(this->rows());
    const Now at = TRY(now(*connection_));
    const auto lease = TRY(rows.lease());
    if (lease.epoch == 0) return std::nullopt;
    const std::int64_t left = lease.server == at.server ? std::max<std::int64_t>(lease.ends - at.time, 0) : 0;
    return Leader{.who = lease.who, .epoch = lease.epoch, .left = std::chrono::microseconds{left}};
}

}  // namespace hostler::postgres

namespace hostler {

Result<std::unique_ptr<Store>> open_postgres(std::string url, Worker& worker, Worker& lease_worker,
                                             PostgresOptions options) {
    std::shared_ptr<sql::BlockingLease> lease = std::make_shared<postgres::LeaseRows>(url, options);
    if (options.stall_max > Duration{0})
        lease = std::make_shared<postgres::KeptLease>(std::move(lease), options.stall_max);
    return sql::make_store("postgresql", worker, TRY(postgres::Tables::open(std::move(url), options)),
                           options.batch, {&lease_worker, std::move(lease)});
}

}  // namespace hostler

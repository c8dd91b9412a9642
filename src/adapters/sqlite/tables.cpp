#include "adapters/sqlite/tables.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <limits>

#include "adapters/sqlite/migrations.h"

namespace hostler::sqlite {

namespace {

constexpr std::size_t page_bytes = 4096;

// Makes room and needs next to none: allowed on a full disk.
bool only_takes_out(const Changes& changes) {
    return changes.put.empty() && changes.events.empty() && changes.ledger.empty() && changes.audit.empty();
}

std::unexpected<Error> full(const std::string& path) {
    return fail(Code::exhausted, fmt::format("the disk of the store {} is full; make room on it", path),
                "disk_full");
}

}  // namespace

Tables::Tables(std::string path, SqliteOptions options)
    : path_(std::move(path)),
      options_(std::move(options)),
      reserve_(path_ + "-reserve", options_.vfs, options_.reserve_bytes) {}

Result<std::unique_ptr<Tables>> Tables::open(std::string path, SqliteOptions options) {
    std::unique_ptr<Tables> tables{new Tables{std::move(path), std::move(options)}};
    TRY(tables->connect());
    return tables;
}

Result<> Tables::connect() {
    database_.reset();
    if (options_.vfs.empty()) {  // Ours alone; SQLite gives its other files the same mode.
        const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (made >= 0) ::close(made);
    }
    database_ = TRY(Database::open(path_, options_.vfs));
    // The lock is taken before the first look, and kept: the index of the log then needs no shared memory.
    TRY(database_->script("PRAGMA locking_mode = EXCLUSIVE"));
    TRY(database_->script(fmt::format("PRAGMA page_size = {}", page_bytes)));
    std::string mode;
    TRY(database_->run("PRAGMA journal_mode = WAL", {}, [&](const Row& row) { mode = row.text(0); }));
    if (mode != "wal")
        return fail(Code::unavailable,
                    fmt::format("the store {} cannot keep a log on this file system", path_));
    TRY(database_->script("PRAGMA synchronous = FULL"));
    TRY(database_->script("PRAGMA temp_store = MEMORY"));
    TRY(database_->script("PRAGMA secure_delete = FAST"));  // Taking out must not write what it takes out.
    TRY(database_->script(fmt::format("PRAGMA wal_autocheckpoint = {}", options_.log_bytes / page_bytes)));
    std::string check;
    TRY(database_->run("PRAGMA quick_check(1)", {}, [&](const Row& row) { check = row.text(0); }));
    if (check != "ok")
        return fail(Code::unavailable,
                    fmt::format("the store {} is damaged: {}; put a backup in its place", path_, check),
                    "store_damaged");
    const auto taken = reserve_.take();
    if (!taken && taken.error().code != Code::exhausted) return taken;
    TRY(migrate());
    broken_ = false;
    return {};
}

Result<> Tables::migrate() {
    return transact_with_reserve([&]() -> Result<> {
        std::uint64_t tables = 0;
        TRY(database_->run("SELECT count(*) FROM sqlite_master WHERE name = 'meta'", {},
                           [&](const Row& row) { tables = row.number(0); }));
        const std::uint64_t known = migrations().size();
        const std::uint64_t present = tables == 0 ? 0 : TRY(meta("schema"));
        if (present > known)
            return fail(
                Code::unavailable,
                fmt::format("the store {} has schema {} of a newer release, this one knows {}; upgrade",
                            path_, present, known),
                "store_too_new");
        for (const Migration& migration : migrations()) {
            if (static_cast<std::uint64_t>(migration.number) <= present) continue;
            TRY(database_->script(migration.sql));
            TRY(
                database_->run("INSERT INTO meta (name, value) VALUES ('schema', ?1) "
                               "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                               {migration.number}));
        }
        // Even when there was nothing to do this is a write, so that a second master is met here and not
        // later.
        return set_meta("schema", known);
    });
}

Result<> Tables::check_usable() const {
    if (broken_ || !database_)
        return fail(
            Code::unavailable,
            fmt::format("an earlier commit to the store {} failed and its outcome is unknown; lead again",
                        path_));
    return {};
}

Result<> Tables::transact(const std::function<Result<>()>& body) {
    Result<> result = database_->run("BEGIN IMMEDIATE");
    if (result) result = body();
    const bool wanted = result.has_value();
    if (wanted) result = database_->run("COMMIT");
    if (result) return result;
    if (database_->in_transaction()) (void)database_->run("ROLLBACK");
    if (result.error().code == Code::exhausted) return after_full(std::move(result).error());
    if (result.error().code == Code::unavailable) broken_ = true;
    return result;
}

// SQLite may have put the last page of the failed transaction into its log before the disk was full: after a
// power cut it would come back to life. A commit that writes over its beginning makes sure that it does not.
Result<> Tables::after_full(Error error) {
    reserve_.release();
    Result<> over = database_->run("BEGIN IMMEDIATE");
    if (over)
        over = database_->run(
            "UPDATE meta SET value = value + 1 WHERE name = 'refused'");  // No change, no write.
    if (over) over = database_->run("COMMIT");
    if (over) {
        // With the log written back, its length can be used again: small commits need no more space from here
        // on.
        (void)database_->run("PRAGMA wal_checkpoint(PASSIVE)");
        return std::unexpected(std::move(error));
    }
    if (database_->in_transaction()) (void)database_->run("ROLLBACK");
    broken_ = true;
    return fail(Code::unavailable, fmt::format("{}, and it is unknown what was written", error.message));
}

// For what a store must be able to do on a full disk: a second try with the reserve let go.
Result<> Tables::transact_with_reserve(const std::function<Result<>()>& body) {
    auto result = transact(body);
    if (!result && result.error().code == Code::exhausted) result = transact(body);
    return result;
}

Result<std::uint64_t> Tables::meta(std::string_view name) {
    std::uint64_t value = 0;
    TRY(database_->run("SELECT value FROM meta WHERE name = ?1", {name},
                       [&](const Row& row) { value = row.number(0); }));
    return value;
}

Result<> Tables::set_meta(std::string_view name, std::uint64_t value) {
    return database_->run("UPDATE meta SET value = ?2 WHERE name = ?1", {name, value});
}

Result<std::uint64_t> Tables::lead(std::uint64_t above) {
    constexpr std::uint64_t epoch_max = std::numeric_limits<std::int64_t>::max() - 1;
    if (above >= epoch_max) return fail(Code::invalid, fmt::format("no epoch is higher than {}", above));
    if (broken_ || !database_) TRY(connect());
    std::uint64_t epoch = 0;
    TRY(transact_with_reserve([&]() -> Result<> {
        epoch = std::max(TRY(meta("epoch")), above) + 1;
        return set_meta("epoch", epoch);
    }));
    return epoch;
}

std::vector<Result<>> Tables::commit(const std::vector<Changes>& batch) {
    const auto all = [&](const Error& error) {
        return std::vector<Result<>>(batch.size(), std::unexpected(error));
    };
    if (const auto usable = check_usable(); !usable) return all(usable.error());

    std::size_t count = batch.size();  // Of those that may be written, from the front.
    if (!reserve_.take())
        count = static_cast<std::size_t>(std::find_if_not(batch.begin(), batch.end(), only_takes_out) -
                                         batch.begin());
    std::vector<Result<>> answers(batch.size());
    const auto body = [&]() -> Result<> {
        for (std::size_t i = 0; i < count; ++i) {
            answers[i] = apply_in_savepoint(batch[i]);
            if (answers[i]) continue;
            const Code code = answers[i].error().code;
            if (code == Code::exhausted || code == Code::unavailable)
                return answers[i];  // Of the disk: all fail.
        }
        return {};
    };
    if (count > 0) {
        const bool makes_room = std::all_of(batch.begin(), batch.end(), only_takes_out);
        const auto written = makes_room ? transact_with_reserve(body) : transact(body);
        if (!written) return all(written.error());
    }
    for (std::size_t i = count; i < batch.size(); ++i) answers[i] = full(path_);
    return answers;
}

Result<> Tables::apply_in_savepoint(const Changes& changes) {
    TRY(database_->run("SAVEPOINT one"));
    const auto applied = apply(changes);
    if (!applied) {
        if (database_->in_transaction()) TRY(database_->run("ROLLBACK TO one"));
        if (applied.error().code == Code::exhausted || applied.error().code == Code::unavailable)
            return applied;
    }
    TRY(database_->run("RELEASE one"));
    return applied;
}

Result<> Tables::apply(const Changes& changes) {
    const std::uint64_t epoch = TRY(meta("epoch"));
    const std::uint64_t number = TRY(meta("number"));
    if (changes.epoch != epoch)
        return fail(Code::conflict,
                    fmt::format("commit {} is of epoch {}, the store is at {}: another master leads",
                                changes.number, changes.epoch, epoch),
                    "not_leader");
    if (changes.number <= number)
        return fail(
            Code::conflict,
            fmt::format("commit {} comes after commit {}: another master leads", changes.number, number),
            "not_leader");
    for (const auto& [kind, id] : changes.erase) TRY(erase(kind, id));
    for (const Object& object : changes.put) TRY(put(object, changes.number));
    TRY(append_events(changes));
    TRY(append_ledger(changes));
    TRY(append_audit(changes));
    return set_meta("number", changes.number);
}

Result<bool> Tables::prune(WallTime before) {
    constexpr std::int64_t rows_max = 2000;  // A transaction, so that commits get their turn in between.
    TRY(check_usable());
    (void)reserve_.take();
    const std::int64_t time = before.time_since_epoch().count();
    bool more = false;
    TRY(transact_with_reserve([&]() -> Result<> {
        const std::uint64_t number = TRY(last_number_before(before));
        std::uint64_t changed = 0;
        const auto count = [&] { changed = std::max(changed, database_->changes()); };
        TRY(
            database_->run("UPDATE objects SET state = 2, body = '' WHERE (kind, id) IN "
                           "(SELECT kind, id FROM objects WHERE state = 1 AND version <= ?1 LIMIT ?2)",
                           {number, rows_max}));
        count();
        TRY(
            database_->run("UPDATE commands SET state = 2, body = '' WHERE (kind, id) IN "
                           "(SELECT kind, id FROM commands WHERE state = 1 AND version <= ?1 LIMIT ?2)",
                           {number, rows_max}));
        count();
        // The objects first: their end is dated by the events.
        if (changed < static_cast<std::uint64_t>(rows_max)) {
            TRY(
                database_->run("DELETE FROM events WHERE (number, line) IN "
                               "(SELECT number, line FROM events WHERE time < ?1 LIMIT ?2)",
                               {time, rows_max}));
            count();
        }
        more = changed >= static_cast<std::uint64_t>(rows_max);
        return {};
    }));
    return more;
}

// Objects carry no time. What ended with a commit up to this one ended before `before`: the last with an
// older event, unless clocks disagree, then the last before the first with a younger one.
Result<std::uint64_t> Tables::last_number_before(WallTime before) {
    const std::int64_t time = before.time_since_epoch().count();
    std::uint64_t older = 0, younger = 0;
    TRY(database_->run("SELECT coalesce(max(number), 0) FROM events WHERE time < ?1", {time},
                       [&](const Row& row) { older = row.number(0); }));
    TRY(database_->run("SELECT coalesce(min(number), 0) FROM events WHERE time >= ?1", {time},
                       [&](const Row& row) { younger = row.number(0); }));
    return younger == 0 ? older : std::min(older, younger - 1);
}

}  // namespace hostler::sqlite

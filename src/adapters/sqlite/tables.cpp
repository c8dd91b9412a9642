#include "adapters/sqlite/tables.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "adapters/sqlite/aside.h"
#include "adapters/sqlite/integrity.h"
#include "adapters/sqlite/wal_file.h"
#include "sql/changes_text.h"
#include "sql/pending.h"

namespace hostler::sqlite {

namespace {

// Of a new store. Commits are small, and each page that one touches is written whole.
constexpr std::size_t page_bytes = 1024;
constexpr std::size_t pending_max = 256;   // Commits; then they are written to the tables,
constexpr std::size_t reserve_share = 16;  // and when they have this part of the reserve's bytes.

// Makes room and needs next to none: allowed on a full disk.
bool only_takes_out(const Changes& changes) {
    return changes.put.empty() && changes.events.empty() && changes.ledger.empty() && changes.audit.empty() &&
           changes.seals.empty();
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

Tables::~Tables() {
    if (const auto aside = aside_.lock()) aside->abandon();
    if (database_ && !broken_) (void)write_pending();  // Else whoever opens it next does.
}

Result<std::shared_ptr<sql::Reading>> Tables::begin_reading() {
    TRY(rows());
    if (!aside_.expired())
        return fail(Code::conflict, "a backup is under way; wait until that one is done", "backup_under_way");
    const auto aside = TRY(CopyAside::begin(*database_, path_, options_.vfs));
    aside_ = aside;
    return aside;
}

Result<> Tables::connect() {
    if (const auto aside = aside_.lock()) aside->abandon();
    database_.reset();
    // Before SQLite would make the file, or take an empty one and throw away the log beside it.
    if (options_.cloud && options_.vfs.empty()) TRY(check_sqlite_is_there(path_, *options_.cloud));
    if (options_.vfs.empty()) {  // Ours alone; SQLite gives its other files the same mode.
        const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (made >= 0) ::close(made);
    }
    const Look look = TRY(look_for(path_, options_.vfs));
    TRY(guard_wal(path_, options_.vfs));
    database_ = TRY(Database::open(path_, options_.vfs));
    // The lock is taken before the first look, and kept: the index of the log then needs no shared memory.
    TRY(database_->script("PRAGMA locking_mode = EXCLUSIVE"));
    TRY(database_->script(fmt::format("PRAGMA page_size = {}", page_bytes)));
    std::string mode;
    TRY(database_->run("PRAGMA journal_mode = WAL", {}, [&](const sql::Row& row) { mode = row.text(0); }));
    if (mode != "wal")
        return fail(Code::unavailable,
                    fmt::format("the store {} cannot keep a log on this file system", path_));
    TRY(database_->script("PRAGMA synchronous = FULL"));
    TRY(database_->script("PRAGMA temp_store = MEMORY"));
    TRY(database_->script("PRAGMA secure_delete = FAST"));  // Taking out must not write what it takes out.
    std::size_t page = page_bytes;                          // An older store keeps its own.
    TRY(database_->run("PRAGMA page_size", {}, [&](const sql::Row& row) { page = row.number(0); }));
    TRY(database_->script(fmt::format("PRAGMA wal_autocheckpoint = {}", options_.log_bytes / page)));
    TRY(check_file(*database_, path_, look));
    const auto taken = reserve_.take();
    if (!taken && taken.error().code != Code::exhausted) return taken;
    TRY(migrate());
    sql::Rows rows{*database_};
    TRY(rows.check_number(path_));
    number_ = TRY(rows.meta("number"));
    broken_ = false;
    return {};
}

Result<> Tables::migrate() {
    return transact_with_reserve([&]() -> Result<> {
        std::uint64_t tables = 0;
        TRY(database_->run("SELECT count(*) FROM sqlite_master WHERE name = 'meta'", {},
                           [&](const sql::Row& row) { tables = row.number(0); }));
        sql::Rows rows{*database_};
        TRY(rows.migrate(tables != 0, path_));
        TRY(sql::check_pending(*database_));
        TRY(sql::write_pending(*database_));
        forget_pending();
        return options_.cloud ? sql::claim(rows, *options_.cloud, path_) : Result<>{};
    });
}

// Errors: unavailable: it is not usable before lead().
Result<> Tables::check_usable() const {
    if (!broken_ && database_) return {};
    return fail(Code::unavailable,
                fmt::format("an earlier commit to the store {} failed and its outcome is unknown; lead again",
                            path_));
}

Result<sql::Rows> Tables::rows() {
    TRY(check_usable());
    TRY(write_pending());
    return sql::Rows{*database_};
}

Result<> Tables::write_pending() {
    if (pending_ == 0) return {};
    TRY(transact_with_reserve([&] { return sql::write_pending(*database_); }));
    forget_pending();
    return {};
}

void Tables::note_pending(const Changes& changes) {
    ++pending_;
    pending_bytes_ += sql::size_of(changes);
    for (const Object& object : changes.put) pending_objects_.emplace(object.kind, object.id);
    for (const auto& key : changes.erase) pending_objects_.insert(key);
}

void Tables::forget_pending() {
    pending_ = 0;
    pending_bytes_ = 0;
    pending_objects_.clear();
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

// Whoever has the file is alone with it: there is no lease to wait for.
Result<Lease> Tables::lead(const Contender&, Duration, std::uint64_t above) {
    TRY(sql::epoch_after(0, above));
    if (broken_ || !database_) TRY(connect());
    sql::Rows rows{*database_};
    Lease lease{.runs_out = false};
    TRY(transact_with_reserve([&]() -> Result<> {
        const std::uint64_t present = TRY(rows.meta("epoch"));
        lease.epoch = TRY(sql::epoch_after(present, above));
        return rows.set_meta("epoch", lease.epoch);
    }));
    return lease;
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
    if (count > 0)
        if (const auto written = write_batch(std::span{batch}.first(count), answers); !written)
            return all(written.error());
    for (std::size_t i = count; i < batch.size(); ++i) answers[i] = full(path_);
    return answers;
}

// Small commits gather. What would be too much for the reserve, and anything on a full disk, goes into the
// tables at once, with all that was pending before it.
bool Tables::gathers(std::span<const Changes> batch) const {
    std::size_t bytes = pending_bytes_;
    for (const Changes& changes : batch) bytes += sql::size_of(changes);
    return reserve_.held() && pending_ + batch.size() <= pending_max &&
           bytes <= options_.reserve_bytes / reserve_share;
}

Result<> Tables::write_batch(std::span<const Changes> batch, std::vector<Result<>>& answers) {
    const bool gathered = gathers(batch);
    const auto body = [&]() -> Result<> {
        sql::Rows rows{*database_};
        if (!gathered) TRY(sql::write_pending(*database_));
        const std::uint64_t epoch = TRY(rows.meta("epoch"));
        std::uint64_t number = number_;
        std::size_t place = pending_;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            answers[i] = sql::admit(batch[i], epoch, number);
            if (answers[i])
                answers[i] = in_savepoint([&]() -> Result<> {
                    if (gathered) return sql::keep_pending(*database_, batch[i], place);
                    TRY(rows.write(batch[i]));
                    return rows.set_meta("number", batch[i].number);
                });
            if (answers[i]) {
                number = batch[i].number;
                ++place;
                continue;
            }
            const Code code = answers[i].error().code;
            if (code == Code::exhausted || code == Code::unavailable)
                return answers[i];  // Of the disk: all fail.
        }
        return {};
    };
    const bool makes_room = std::ranges::all_of(batch, only_takes_out);
    TRY(makes_room ? transact_with_reserve(body) : transact(body));
    if (!gathered) forget_pending();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!answers[i]) continue;
        number_ = batch[i].number;
        if (gathered) note_pending(batch[i]);
    }
    return {};
}

Result<> Tables::in_savepoint(const std::function<Result<>()>& body) {
    TRY(database_->run("SAVEPOINT one"));
    const auto done = body();
    if (!done) {
        if (database_->in_transaction()) TRY(database_->run("ROLLBACK TO one"));
        if (done.error().code == Code::exhausted || done.error().code == Code::unavailable) return done;
    }
    TRY(database_->run("RELEASE one"));
    return done;
}

Result<Snapshot> Tables::load() { return TRY(rows()).load(); }

// Nobody but this process changes it: it is as it was, or was changed here.
Result<Snapshot> Tables::load_since(StorePoint point) { return TRY(rows()).load_since(point.number); }

Result<Page> Tables::list(const ListQuery& query) { return TRY(rows()).list(query); }

Result<Object> Tables::find(const std::string& kind, const std::string& id) {
    TRY(check_usable());
    // What is pending about others need not be written for it.
    if (pending_objects_.contains({kind, id})) TRY(write_pending());
    return sql::Rows{*database_}.find(kind, id);
}

Result<std::vector<EventRecord>> Tables::events(const EventQuery& query) { return TRY(rows()).events(query); }

Result<AuditPage> Tables::audit(const AuditQuery& query) { return TRY(rows()).audit(query); }

Result<AuditAnchors> Tables::audit_anchors(std::uint64_t after, std::size_t limit) {
    return TRY(rows()).audit_anchors(after, limit);
}

Result<sql::Rows::Pruned> Tables::prune_audit(WallTime before) {
    auto rows = TRY(this->rows());
    (void)reserve_.take();
    sql::Rows::Pruned pruned;
    TRY(transact_with_reserve([&]() -> Result<> {
        pruned = TRY(rows.prune_audit(before));
        return {};
    }));
    return pruned;
}

Result<bool> Tables::prune(WallTime before) {
    auto rows = TRY(this->rows());
    (void)reserve_.take();
    bool more = false;
    TRY(transact_with_reserve([&]() -> Result<> {
        more = TRY(rows.prune(before));
        return {};
    }));
    return more;
}

}  // namespace hostler::sqlite

namespace hostler {

Result<> check_sqlite_is_there(const std::string& path, const sql::Cloud& cloud) {
    if (!cloud.served() || cloud.begin) return {};
    std::error_code missing;
    const auto size = std::filesystem::file_size(path, missing);
    if (missing || size == 0) return sql::store_lost(cloud, path);
    return {};
}

Result<std::unique_ptr<Store>> open_sqlite(std::string path, Worker& worker, SqliteOptions options) {
    const sql::BatchLimits limits = options.batch;
    return sql::make_store("sqlite", worker, TRY(sqlite::Tables::open(std::move(path), std::move(options))),
                           limits);
}

}  // namespace hostler

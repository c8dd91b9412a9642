// The store in one SQLite file: transactions, and what a full disk asks for.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/reserve.h"
#include "adapters/sqlite/store.h"
#include "sql/rows.h"
#include "sql/store.h"

namespace hostler::sqlite {

class CopyAside;

class Tables final : public sql::BlockingStore {
public:
    static Result<std::unique_ptr<Tables>> open(std::string path, SqliteOptions options);

    Result<Lease> lead(const Contender& who, Duration length, std::uint64_t above) override;
    std::vector<Result<>> commit(const std::vector<Changes>& batch) override;
    Result<Snapshot> load() override;
    Result<Snapshot> load_since(StorePoint point) override;
    Result<Page> list(const ListQuery& query) override;
    Result<Object> find(const std::string& kind, const std::string& id) override;
    Result<std::vector<EventRecord>> events(const EventQuery& query) override;
    Result<AuditPage> audit(const AuditQuery& query) override;
    Result<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override;
    Result<sql::Rows::Pruned> prune_audit(WallTime before) override;
    Result<bool> prune(WallTime before) override;
    Result<std::shared_ptr<sql::Reading>> begin_reading() override;

    ~Tables() override;

private:
    Tables(std::string path, SqliteOptions options);
    Result<> connect();
    Result<> migrate();
    Result<> check_usable() const;
    Result<sql::Rows> rows();  // With all commits in the tables.
    Result<> write_pending();
    void note_pending(const Changes& changes);
    void forget_pending();
    // Runs `body` in a transaction. A full disk leaves nothing written, proven by a commit after it.
    Result<> transact(const std::function<Result<>()>& body);
    Result<> transact_with_reserve(const std::function<Result<>()>& body);
    Result<> after_full(Error error);
    bool gathers(std::span<const Changes> batch) const;
    Result<> write_batch(std::span<const Changes> batch, std::vector<Result<>>& answers);
    Result<> in_savepoint(const std::function<Result<>()>& body);

    std::string path_;
    SqliteOptions options_;
    Reserve reserve_;
    std::unique_ptr<Database> database_;
    std::weak_ptr<CopyAside> aside_;
    std::uint64_t number_ = 0;  // Of the last commit.
    std::size_t pending_ = 0;   // Commits that are not in the tables yet,
    std::size_t pending_bytes_ = 0;
    std::set<std::pair<std::string, std::string>> pending_objects_{};  // Whose rows they change.
    bool broken_ = false;  // A commit's outcome is unknown: nothing more before lead().
};

}  // namespace hostler::sqlite

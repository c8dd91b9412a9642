// The store in PostgreSQL: who may write, transactions, and connecting again; and its lease.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/store.h"
#include "sql/rows.h"
#include "sql/store.h"

namespace hostler::postgres {

// Of whoever makes or changes tables: "hostler" in ASCII, since advisory locks are numbers.
inline constexpr std::int64_t tables_lock = 0x686f73746c6572;

class Tables final : public sql::BlockingStore {
public:
    static Result<std::unique_ptr<Tables>> open(std::string url, PostgresOptions options);

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

private:
    Tables(std::string url, PostgresOptions options) : url_(std::move(url)), options_(options) {}
    Result<> connect();
    Result<> migrate();
    Result<> warn_without_standby();
    Result<sql::Rows> rows();
    Result<> begin();
    Result<> begin_writing();
    Result<> transact(Result<> begun, const std::function<Result<>()>& body);
    Result<Snapshot> load_by(const std::function<Result<Snapshot>(sql::Rows&, std::int64_t life)>& load);
    template <class T>
    Result<T> read(const std::function<Result<T>(sql::Rows&)>& body);
    Result<> write(const std::vector<Changes>& batch, std::vector<Result<>>& answers, bool one_by_one);

    std::string url_;
    PostgresOptions options_;
    std::unique_ptr<Connection> connection_;
    std::uint64_t led_ = 0;  // The epoch that this one was given last.
    bool broken_ = false;    // The outcome of what was under way is unknown: nothing more on this connection.
    bool reopened_ = false;  // Since lead(). What is unknown may have been written: no commit before lead().
};

// On a connection of its own, made when it is first needed and anew after it was lost.
class LeaseRows final : public sql::BlockingLease {
public:
    LeaseRows(std::string url, PostgresOptions options) : url_(std::move(url)), options_(options) {}

    Result<> renew(std::uint64_t epoch, Duration length) override;
    Result<> resign(std::uint64_t epoch) override;
    Result<std::optional<Leader>> leader() override;

private:
    Result<sql::Rows> rows();
    Result<> set_end(std::uint64_t epoch, std::int64_t after_us);

    std::string url_;
    PostgresOptions options_;
    std::unique_ptr<Connection> connection_;
};

}  // namespace hostler::postgres

// A store whose calls block, made into one whose calls do not: everything on a worker, commits in groups.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/worker.h"
#include "ports/store.h"
#include "sql/connection.h"
#include "sql/rows.h"

namespace hostler::sql {

// One state of the store, to be read while commits go on.
class Reading {
public:
    virtual ~Reading() = default;
    virtual Result<bool> prepare() = 0;    // A bounded part of what it takes; true: there is more.
    virtual Connection& connection() = 0;  // Once it is prepared.
};

// One thread at a time. Errors as in ports/store.h.
class BlockingStore {
public:
    virtual ~BlockingStore() = default;
    virtual Result<Lease> lead(const Contender& who, Duration length, std::uint64_t above) = 0;
    // One answer for each, in order; one transaction and one sync for all.
    virtual std::vector<Result<>> commit(const std::vector<Changes>& batch) = 0;
    virtual Result<Snapshot> load() = 0;
    virtual Result<Snapshot> load_since(StorePoint point) { return load(); }
    virtual Result<Page> list(const ListQuery& query) = 0;
    virtual Result<Object> find(const std::string& kind, const std::string& id) = 0;
    virtual Result<std::vector<EventRecord>> events(const EventQuery& query) = 0;
    virtual Result<AuditPage> audit(const AuditQuery& query) = 0;
    virtual Result<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) = 0;
    virtual Result<Rows::Pruned> prune_audit(WallTime before) = 0;  // A bounded part of it.
    virtual Result<bool> prune(WallTime before) = 0;  // A bounded part of it; true: there is more.
    // It is used and ended on the same thread; a store that goes first ends it.
    virtual Result<std::shared_ptr<Reading>> begin_reading() = 0;
};

// The lease of a store that others may have too; used on a thread of its own, as commits may hang.
class BlockingLease {
public:
    virtual ~BlockingLease() = default;
    virtual Result<> renew(std::uint64_t epoch, Duration length) = 0;
    virtual Result<> resign(std::uint64_t epoch) = 0;
    virtual Result<std::optional<Leader>> leader() = 0;

    // Of one that is renewed also beside the caller; on any thread, and they wait for nothing.
    virtual void held(std::uint64_t epoch, Duration length) {}  // lead() has just taken it.
    virtual void stop_keeping() {}                              // Nothing renews it beside the caller.
    virtual std::optional<Instant> renewed() const { return std::nullopt; }  // As Election::renewed().
};

struct BatchLimits {
    std::size_t changes_max = 256;    // Commits that share one sync,
    std::size_t bytes_max = 8 << 20;  // and their size together.
};

struct LeaseKeeping {
    Worker* worker = nullptr;
    std::shared_ptr<BlockingLease> lease{};  // Null: nobody else can have the store, its lease lasts.
};

// A commit takes its place in the order when commit() is called, not when it is awaited. It holds its caller
// until it is durable: that wait is the back-pressure, nobody is refused for being many. A caller that is
// cancelled leaves its commit in the queue. After a commit has failed with `exhausted` or `unavailable`, all
// that were called before it answered fail alike, so that what is written is always a beginning of what was
// decided. The workers must be of the caller's loop and outlive the store.
// `kind`: as in StoreFacts.
std::unique_ptr<Store> make_store(std::string kind, Worker& worker, std::shared_ptr<BlockingStore> blocking,
                                  BatchLimits limits, LeaseKeeping keeping = {});

}  // namespace hostler::sql

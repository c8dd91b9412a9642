// A store that passes everything on to another.
#pragma once

#include "ports/store.h"

namespace hostler::simulation {

// Who wraps a store says what differs, and nothing else.
class StoreBehind : public Store {
public:
    explicit StoreBehind(Store& store) : store_(store) {}
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        return store_.lead(std::move(who), length, above);
    }
    Task<> renew() override { return store_.renew(); }
    Task<> resign() override { return store_.resign(); }
    Task<std::optional<Leader>> leader() override { return store_.leader(); }
    Task<> commit(Changes changes) override { return store_.commit(std::move(changes)); }
    Task<Snapshot> load() override { return store_.load(); }
    Task<Snapshot> load_since(StorePoint point) override { return store_.load_since(point); }
    Task<Page> list(ListQuery query) override { return store_.list(std::move(query)); }
    Task<Object> find(std::string kind, std::string id) override {
        return store_.find(std::move(kind), std::move(id));
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return store_.events(std::move(query));
    }
    Task<AuditPage> audit(AuditQuery query) override { return store_.audit(std::move(query)); }
    Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override {
        return store_.audit_anchors(after, limit);
    }
    Task<std::uint64_t> prune_audit(WallTime before) override { return store_.prune_audit(before); }
    Task<> prune(WallTime before) override { return store_.prune(before); }
    Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) override {
        return store_.backup(taken, digest);
    }

protected:
    Store& store_;
};

}  // namespace hostler::simulation

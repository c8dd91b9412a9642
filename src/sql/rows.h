// What the store keeps, as statements. Transactions are the caller's.
#pragma once

#include <string>
#include <vector>

#include "ports/store.h"
#include "sql/connection.h"

namespace hostler::sql {

std::uint64_t newest_schema();  // That this release knows.

class Rows {
public:
    explicit Rows(Connection& connection) : connection_(connection) {}

    Result<std::uint64_t> meta(std::string_view name);  // 0 if nobody has set it.
    Result<> set_meta(std::string_view name, std::uint64_t value);
    // The lease as it stands; `ends` and `server` are for who grants it to make sense of.
    struct LeaseRow {
        Contender who{};
        std::uint64_t epoch = 0;  // 0: nobody ever had it.
        std::int64_t ends = 0;    // Microseconds since 1970 by the server's clock; 0: resigned.
        std::int64_t server = 0;  // Which life of the server that clock is of.
    };
    Result<LeaseRow> lease();
    Result<> set_lease(const LeaseRow& lease);
    // Brings the schema up to date, or to `up_to`; `made`: there are tables already. A newer one is left as
    // it is. Errors: as check_schema()'s.
    Result<> migrate(bool made, std::string_view store, std::uint64_t up_to = newest_schema());
    // Whether this release may use the tables, which a newer one may have added to. Errors: unavailable:
    // "store_too_new".
    Result<> check_schema(std::string_view store);

    // Whether the last commit is as late as what the logs have of it. Errors: unavailable: "store_damaged".
    Result<> check_number(std::string_view store);

    Result<> write(const Changes& changes);  // All of them, and nothing about who may.
    // Notes which objects these changed, for load_since(). Only a store that masters share needs it.
    Result<> note_changed(const Changes& changes);
    Result<Snapshot> load();
    // Everything, if not all commits since then have noted what they changed.
    Result<Snapshot> load_since(std::uint64_t number);
    Result<Page> list(const ListQuery& query);
    Result<Object> find(const std::string& kind, const std::string& id);
    Result<std::vector<EventRecord>> events(EventQuery query);
    // audit_rows.cpp
    Result<AuditPage> audit(const AuditQuery& query);
    Result<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit);
    struct Pruned {
        std::uint64_t lines = 0;
        bool more = false;
    };
    // Takes out a bounded part of what Store::prune_audit() promises.
    Result<Pruned> prune_audit(WallTime before);
    // Takes out a bounded part of what Store::prune() promises; true: there is more.
    Result<bool> prune(WallTime before);

private:
    // Whether a row of `columns` is as it was written; what is not is logged once.
    bool believes(const Row& row, const Object& object, std::string* why = nullptr);
    void take(const Row& row, Snapshot& into);
    void tell_damaged(std::string_view log, const Row& row);
    Result<Page> list_some(ListQuery& query);
    Result<bool> add_events(EventQuery& query, std::size_t limit, std::vector<EventRecord>& into);
    Result<> put(const Object& object, std::uint64_t number);
    Result<> erase(const std::string& kind, const std::string& id);
    Result<> append_events(const Changes& changes);
    Result<> append_ledger(const Changes& changes);
    Result<> append_audit(const Changes& changes);
    Result<> append_seals(const Changes& changes);
    Result<> set_head(std::string_view name, const AuditHead& head);
    // nullopt: it is not as it was written.
    Result<std::optional<AuditHead>> head_row(std::string_view name);
    Result<AuditHead> audit_head();
    Result<> note_audit(Snapshot& into);
    Result<AuditPage> audit_by_time(const AuditQuery& query);
    Result<AuditPage> audit_as_written(const AuditQuery& query);
    Result<std::optional<AuditPlace>> audit_part_end(std::string_view where, std::vector<Value> values);
    Result<std::uint64_t> last_number_before(WallTime before);

    Connection& connection_;
};

// May this be written to a store at `epoch` whose last commit is `number`? Errors: conflict: "not_leader".
Result<> admit(const Changes& changes, std::uint64_t epoch, std::uint64_t number);
// What a lease is to another who would have it, at `now` by the clock of `server`, if leases are of `length`
// (both in microseconds).
enum class LeaseIs {
    free,
    held,
    unclear,  // The clock is not the one that its end was counted by, or was put back: it lasts once more.
};
LeaseIs lease_is(const Rows::LeaseRow& lease, std::int64_t now, std::int64_t server, std::int64_t length);
// Errors: invalid: there is none so high.
Result<std::uint64_t> epoch_after(std::uint64_t present, std::uint64_t above);

}  // namespace hostler::sql

// What must not be forgotten: the objects of the cloud, what happened to them, who holds what.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/timers.h"
#include "ports/digest.h"

namespace hostler {

// An envelope around a JSON body. The store reads the envelope and keeps the body as it came, so that a
// release keeps what a newer one wrote.
struct Object {
    std::string kind;    // "instance", "host", …
    std::string id;      // Unique in its kind.
    std::string tenant;  // Empty: the operator's.
    std::string project;
    std::string phase;
    std::uint64_t generation = 0;  // Rises when what is wanted changes.
    std::uint64_t created = 0;     // Number of the commit that made it,
    std::uint64_t version = 0;     // and of the last one that changed it.
    bool live = true;              // false: it has ended; kept to be read, not loaded.
    std::string body;
    bool operator==(const Object&) const = default;
};

struct EventRecord {
    WallTime time;
    std::string kind;  // Of the object it happened to,
    std::string id;    // and its id.
    std::string tenant;
    std::string actor;         // "key/k-…", "host/h-…", "master".
    std::string reason;        // A token: "placed", "image_unavailable".
    std::string message;       // A sentence.
    std::uint64_t number = 0;  // Of its commit,
    std::uint64_t line = 0;    // and its place there; both are filled in by the store.
    bool operator==(const EventRecord&) const = default;
};

// One change of who holds what. The sum over all lines of a host and hour is its capacity
// (domain/inventory/claim.h).
struct LedgerLine {
    WallTime time;
    std::string claim;
    std::string host;
    std::string tenant;
    std::string use;   // "stock", "instance", "foreign", …; "released" ends the claim.
    std::string body;  // JSON: what is held.
    bool operator==(const LedgerLine&) const = default;
};

// Where the chain of the audit has come to (ports/audit_chain.h).
struct AuditHead {
    std::uint64_t position = 0;  // Of the line, counted from 1; 0: no line yet.
    std::string hash{};          // Of that line; empty: no line yet.
    bool operator==(const AuditHead&) const = default;
};

// Who changed what through the API, and who was refused. A line is never changed; the oldest are taken out.
inline constexpr std::string_view audit_ok = "ok", audit_denied = "denied", audit_failed = "failed";
struct AuditLine {
    WallTime time;
    std::string actor;
    std::string address;
    std::string operation;  // "createInstance"
    std::string subject;    // Kind and id: "volume/v-…".
    std::string tenant;     // Owning tenant; empty: the operator.
    int status = 0;
    std::string before;  // JSON, as the API shows it; empty: was not there, is gone.
    std::string after;
    std::string client{};      // The program, as it calls itself: "hostler/0.1.0".
    std::string project{};     // Of the object; empty: it is in none.
    std::string zone{};        // Of the object; empty: it is in none.
    std::string service{};     // The noun of the operation: "instance"; empty: of an older release.
    std::string result{};      // "ok", "denied", "failed"; empty: of an older release, and ok.
    std::string reason{};      // Of a refusal, a token: "permission_missing"; else empty.
    AuditHead chain{};         // Its own place and hash; position 0: it is in no chain.
    std::string previous{};    // The hash of the line before; empty: the chain begins with it.
    std::uint64_t number = 0;  // Of its commit; filled in by the store.
    std::uint64_t line = 0;    // Within the commit; as well.
    std::string request{};     // Id of the API's request; empty: it has none. Not in the chain's hash.
    bool operator==(const AuditLine&) const = default;
};

// An authority has signed how far the chain was at a time: what is cut off before that is missed.
struct AuditSeal {
    AuditHead head;
    WallTime time;
    std::uint64_t epoch = 0;
    std::string authority;    // Fingerprint of its certificate,
    std::string certificate;  // which is this, as PEM.
    std::string signature;    // Base64; of seal_text() in ports/audit_chain.h.
    bool operator==(const AuditSeal&) const = default;
};

struct Changes {
    std::uint64_t epoch = 0;   // Of the leader that decided it.
    std::uint64_t number = 0;  // The leader counts its commits; each is higher than the last.
    std::vector<Object> put;
    std::vector<std::pair<std::string, std::string>> erase;  // Kind and id.
    std::vector<EventRecord> events;
    std::vector<LedgerLine> ledger;
    std::vector<AuditLine> audit;
    std::vector<AuditSeal> seals{};  // One of a position that has one already is passed over.
};

// A state of the store: the last commit, and the life of the database that knows it. After a failover the
// same number may mean another commit.
struct StorePoint {
    std::uint64_t number = 0;
    std::int64_t life = 0;
    bool operator==(const StorePoint&) const = default;
};

// An object that the store has and nobody can read.
struct Unreadable {
    std::string kind, id, why;
};

struct Snapshot {
    std::uint64_t number = 0;            // Of the last commit.
    std::vector<Object> live;            // In order of kind, created, id.
    std::vector<Unreadable> unreadable;  // Live ones that are damaged; not in `live`.
    std::int64_t life = 0;               // Of the database.
    // true: `live` is everything that is live. false: `live` is what changed since a point, objects that
    // ended among it, and `gone` what was erased.
    bool whole = true;
    std::vector<std::pair<std::string, std::string>> gone{};  // Kind and id.
    AuditHead audit{};                                        // The last line of the chain,
    AuditHead sealed{};                                       // and what the last seal is of.
    StorePoint point() const { return {number, life}; }
};

// A page of a list that was begun at commit `at`: what was made later is not in it, so paging neither skips
// nor repeats. In order of (created, id).
struct ListQuery {
    std::string kind;
    std::optional<std::string> tenant{};
    std::optional<std::string> project{};
    std::optional<std::string> phase{};
    bool finished = true;             // Also those that have ended.
    std::uint64_t at = 0;             // 0: now.
    std::uint64_t after_created = 0;  // Go on behind this one;
    std::string after_id{};
    std::size_t limit = 100;
};
struct Page {
    std::uint64_t at = 0;
    std::vector<Object> objects;
    bool more = false;
};

struct EventPlace {
    std::uint64_t number = 0;
    std::uint64_t line = 0;
    bool operator==(const EventPlace&) const = default;
};

struct EventQuery {
    std::string kind{};
    std::string id{};
    std::optional<std::string> tenant{};
    std::uint64_t after = 0;             // Commit number.
    std::size_t limit = 100;             // At most events_max.
    std::optional<EventPlace> before{};  // Only older ones than the event at this place.
};
inline constexpr std::size_t events_max = 1001;

// Where a list of the audit goes on: behind this line, at those that come next in its order.
struct AuditPlace {
    WallTime time;
    std::uint64_t number = 0;
    std::uint64_t line = 0;
    bool operator==(const AuditPlace&) const = default;
};

enum class AuditOrder {
    newest,   // By time, the newest first. What is not as it was written is left out.
    written,  // As they were written, the first one first, whatever their times: that of the chain. What is
              // in the chain and not as it was written is there as it is now.
};

struct AuditQuery {
    std::string actor{};      // Empty: whoever.
    std::string operation{};  // Empty: whichever.
    std::string subject{};    // Empty: whatever.
    std::optional<std::string> tenant{};
    WallTime since = WallTime::min();
    WallTime until = WallTime::max();
    std::optional<AuditPlace> after{};
    std::size_t limit = 100;
    std::string project{};  // Empty: whichever.
    std::string result{};   // Empty: whichever.
    AuditOrder order = AuditOrder::newest;
    std::string request{};  // Empty: whichever.
};
struct AuditPage {
    std::vector<AuditLine> lines;
    std::optional<AuditPlace> next;  // nullopt: there are no more.
};

// What the chain of the audit hangs on.
struct AuditAnchors {
    AuditHead base;                // The last line that was taken out; position 0: none was.
    AuditHead head;                // The last line that was written.
    std::vector<AuditSeal> seals;  // In order of their positions; some of them.
    bool more = false;             // There are seals behind these.
};

inline constexpr std::size_t audit_seals_max = 100'000;  // One an hour: more than 11 years.

// A master that may lead.
struct Contender {
    std::string name;
    std::string address;  // Where the other masters, access points and gateways reach it.
    bool operator==(const Contender&) const = default;
};

// The right to lead until it runs out or is resigned.
struct Lease {
    std::uint64_t epoch = 0;
    bool runs_out = true;  // false: nobody else can have the store while this process has it.
};

// Who leads, as the store knows.
struct Leader {
    Contender who;
    std::uint64_t epoch = 0;
    Duration left{};  // Of the lease, by the store's clock; 0: it has run out, or was resigned.
};

// Who may lead. The lease is counted by the store's clock, and by no master's.
class Election {
public:
    virtual ~Election() = default;
    // Takes the lease for `length` when nobody has it: with a new epoch, durable, higher than any before and
    // than `above`. Whoever led before can commit no more. It may be taken again by the same Election, at
    // once. Errors: conflict ("lease_held": another has it), unavailable, invalid (`above`).
    virtual Task<Lease> lead(Contender who, Duration length, std::uint64_t above) = 0;
    // For its full length from now on; waits for no commit, not even one that hangs. A holder counts the time
    // from before the call. Errors: conflict ("not_leader": another has led since), unavailable (unknown).
    virtual Task<> renew() = 0;
    // When a loop that stands still had it renewed beside it, last: asked at that instant of
    // Timers::now_with_sleep(), since renew() was last answered. nullopt: it was not.
    virtual std::optional<Instant> renewed() const { return std::nullopt; }
    virtual void stop_keeping() {}                     // Only renew() renews it from now on.
    virtual Task<> resign() = 0;                       // Another may lead at once. Errors: as renew().
    virtual Task<std::optional<Leader>> leader() = 0;  // nullopt: nobody ever led. Errors: unavailable.
};

// Everything that the store held at one moment, as a file that knows whether it is whole
// (docs/operate/backup.md).
class Backup {
public:
    virtual ~Backup() = default;
    virtual Task<std::string> next() = 0;  // Its next piece; empty: that was all. Errors: unavailable.
};

// Facts of the store, known since it was opened.
struct StoreFacts {
    std::string kind{};  // "sqlite", "postgresql"; empty: it does not say.
    int schema = 0;      // Number of its newest migration; 0: it does not say.
};

// Many tasks of one loop may call at once; commits take effect in the order of the calls, many share one
// sync.
class Store : public Election {
public:
    // All or nothing, durable when it returns. Errors: conflict (an older epoch or number: somebody else
    // leads), exhausted (disk full: nothing was written), unavailable (unknown whether it was written).
    virtual Task<> commit(Changes changes) = 0;
    virtual Task<Snapshot> load() = 0;
    // What changed since an earlier snapshot; everything where the store cannot tell.
    virtual Task<Snapshot> load_since(StorePoint point) { return load(); }
    virtual Task<Page> list(ListQuery query) = 0;
    // Errors: not_found; internal ("row_damaged": it is there and cannot be read). list() leaves such out.
    virtual Task<Object> find(std::string kind, std::string id) = 0;
    // The newest `limit` after `query.after` and before `query.before`, oldest first; fewer only when these are
    // all.
    virtual Task<std::vector<EventRecord>> events(EventQuery query) = 0;
    // It looks at a bounded part: a page may be short or empty and have a next one.
    virtual Task<AuditPage> audit(AuditQuery query) = 0;
    // With at most `limit` seals of positions above `after`.
    virtual Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) = 0;
    // Takes out lines of the audit from before `time`, from its beginning to the first younger one; the
    // chain's base follows. Seals stay, the newest audit_seals_max of them. Says how many lines went.
    virtual Task<std::uint64_t> prune_audit(WallTime before) = 0;
    // Takes out events, and objects that ended, from before `time`; keeps ids taken (find() still knows
    // them).
    virtual Task<> prune(WallTime before) = 0;
    // Begins one while commits go on; it is of a moment after this call. `taken` is written into it; `digest`
    // outlives it, and is used on other threads. Errors: conflict ("backup_under_way": one at a time),
    // exhausted ("disk_full": there is no room to prepare it), unavailable.
    virtual Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) = 0;
    virtual StoreFacts facts() const { return {}; }
};

}  // namespace hostler

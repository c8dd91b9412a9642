// A database that several masters share: a primary and a standby on machines of the simulated world, with the
// real statements of src/sql on SQLite in memory, and the lease as adapters/postgres keeps it.
#pragma once

#include <deque>
#include <functional>
#include <set>

#include "adapters/sim/world.h"
#include "adapters/sqlite/database.h"
#include "checkers/lease_watch.h"
#include "ports/store.h"
#include "sql/rows.h"

namespace hostler::simulation {

// A server's clock, and which life of a server it is of.
struct ServerTime {
    std::int64_t micros = 0;
    std::int64_t server = 0;
};

// Acknowledged transactions went with a primary, or an older backup took their place.
struct Rewind {
    Instant since{};                                         // When the first of them was written.
    std::vector<std::shared_ptr<const Changes>> kept, lost;  // Commits, in order.
};

// What else there is to know of a transaction.
struct Noted {
    std::shared_ptr<const Changes> commit{};            // What it writes, if it is one.
    std::function<void(LeaseWatch&, Instant)> lease{};  // Called when it is done.
};

class Database {
public:
    enum class Standby { synchronous, asynchronous };
    // Machines "db-1" and "db-2", whose clocks differ by minutes and do not run alike. Synchronous: what is
    // acknowledged is on both.
    Database(sim::World& world, Standby standby, LeaseWatch& leases);
    ~Database();

    void boot();
    std::string primary() const { return nodes_[primary_].machine; }
    bool synchronous() const { return standby_ == Standby::synchronous; }
    // Whether the commit is there: on the primary that is, after all that was lost with those before it.
    bool has(std::uint64_t epoch, std::uint64_t number) const { return commits_.contains({epoch, number}); }
    std::uint64_t lost() const { return lost_; }  // Transactions that went with a primary.
    std::uint64_t promoted() const { return promoted_; }
    std::size_t written() const { return log_.size(); }  // Transactions.
    // An older backup takes its place: the first so many transactions. Nobody may be connected.
    void restore(std::size_t transactions);
    std::function<void(const Rewind&)> rewound;
    // Deliberate mistakes: it believes whoever commits; it acknowledges what its standby does not have yet.
    bool admits_all = false, acknowledges_early = false;

    // ── A connection's end at a master ──
    using Writing = std::function<Result<>(sql::Rows&, ServerTime)>;
    using Reading = std::function<Result<>(sql::Rows&, ServerTime)>;
    using Answer = std::function<void(Result<>)>;
    // Runs `work` where the primary is when it gets there. `answer` is called when that is known here: never
    // when nobody can tell. What `work` refuses leaves nothing.
    void write(const std::string& from, Writing work, Answer answer, Noted noted = {});
    void read(const std::string& from, Reading work, Answer answer);

private:
    struct Node {
        std::string machine;
        std::unique_ptr<sqlite::Database> rows;
        std::size_t applied = 0;  // Of the log.
        std::int64_t life = 0;
    };
    struct Entry {
        Writing work;
        ServerTime at;
        Instant written{};
        std::shared_ptr<const Changes> commit{};
        std::function<void()> acknowledge{};  // Once it is as durable as it gets.
    };
    Node& primary_node() { return nodes_[primary_]; }
    Node& standby_node() { return nodes_[1 - primary_]; }
    bool awake(const Node& node) const;
    ServerTime time_of(const Node& node) const;
    void travel(std::string from, std::string to, std::function<void()> there);
    void reach(std::string to, std::string from, std::function<void()> there, Answer answer);
    void take(const std::string& from, const Writing& work, const Answer& answer, const Noted& noted);
    void look_at_clock();
    void rebuild(Node& node);
    void replay(Node& node, std::size_t until);
    void ship();
    void watch();
    void promote();
    void rewind(std::size_t kept, bool promised);

    sim::World& world_;
    const Standby standby_;
    LeaseWatch& leases_;
    sim::Dice dice_;
    std::array<Node, 2> nodes_;
    std::size_t primary_ = 0;
    std::vector<Entry> log_;  // Of the timeline that is.
    std::size_t acknowledged_ = 0;
    std::set<std::pair<std::uint64_t, std::uint64_t>> commits_;
    std::uint64_t lost_ = 0, promoted_ = 0;
    Instant primary_seen_{};
    TimerId timer_ = 0;
    std::int64_t lives_ = 0;
    std::chrono::microseconds ahead_{};  // The primary's clock, when it was last looked at.
    std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// The store as one life of a master has it.
std::unique_ptr<Store> open_database(Database& database, sim::Life& life);

}  // namespace hostler::simulation

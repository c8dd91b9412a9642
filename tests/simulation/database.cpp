#include "database.h"

#include <fmt/format.h>

#include "core/suspend.h"

namespace hostler::simulation {

namespace {

using namespace std::chrono_literals;

constexpr Duration way_min = 500us;
constexpr Duration again = 200ms;  // What meets a cut is sent again.

std::int64_t micros(Duration time) { return std::chrono::ceil<std::chrono::microseconds>(time).count(); }

// All or nothing, on one node.
Result<> transact(sqlite::Database& database, const Database::Writing& work, ServerTime at) {
    TRY(database.run("BEGIN"));
    sql::Rows rows{database};
    const auto done = work(rows, at);
    TRY(database.run(done ? "COMMIT" : "ROLLBACK"));
    return done;
}

}  // namespace

Database::Database(sim::World& world, Standby standby, LeaseWatch& leases)
    : world_(world), standby_(standby), leases_(leases), dice_(world.dice.fork("database")) {
    sim::Dice clocks = world.dice.fork("the database's clocks");
    const auto either_way = [&clocks](std::int64_t most) {
        return static_cast<std::int64_t>(clocks.below(static_cast<std::uint64_t>(2 * most + 1))) - most;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i].machine = fmt::format("db-{}", i + 1);
        world.machine(nodes_[i].machine, 0,
                      {.wall = std::chrono::seconds{either_way(300)}, .wall_ppm = either_way(20'000)});
        rebuild(nodes_[i]);
    }
    ahead_ = world.machine(primary()).skew.wall;
    watch();
}

Database::~Database() { world_.timers.cancel(timer_); }

void Database::boot() {
    for (Node& node : nodes_)
        world_.machine(node.machine).boot([this, &node](sim::Life&) {
            node.life = ++lives_;
            return std::make_shared<int>();
        });
}

bool Database::awake(const Node& node) const { return world_.machine(node.machine).awake(); }

// Its wall clock: what a lease is counted by.
ServerTime Database::time_of(const Node& node) const {
    return {world_.machine(node.machine).life().timers.wall().time_since_epoch().count(), node.life};
}

void Database::rebuild(Node& node) {
    node.rows = std::move(*sqlite::Database::open(":memory:", ""));
    HOSTLER_ASSERT(sql::Rows{*node.rows}.migrate(false, "the simulated database").has_value());
    node.applied = 0;
}

void Database::replay(Node& node, std::size_t until) {
    for (; node.applied < until; ++node.applied) {
        const Entry& entry = log_[node.applied];
        HOSTLER_ASSERT(transact(*node.rows, entry.work, entry.at).has_value());
    }
}

// Over the network, as TCP has it: late, and never out of turn.
void Database::travel(std::string from, std::string to, std::function<void()> there) {
    const Duration way = way_min + Duration{static_cast<std::int64_t>(dice_.below(500'000))};
    world_.clock.schedule(world_.clock.now() + (world_.network.reaches(from, to) ? way : again),
                          [this, weak = std::weak_ptr(alive_), from, to, there = std::move(there)]() mutable {
                              if (weak.expired()) return;
                              if (world_.network.reaches(from, to)) return there();
                              travel(std::move(from), std::move(to), std::move(there));
                          });
}

// A server that is gone resets the connection; of one that is stopped the system takes the bytes.
void Database::reach(std::string to, std::string from, std::function<void()> there, Answer answer) {
    const sim::Machine& machine = world_.machine(to);
    if (!machine.up() || to != primary())
        return travel(to, from,
                      [answer] { answer(fail(Code::unavailable, "the server closed the connection")); });
    look_at_clock();
    if (machine.awake()) return there();
    world_.clock.schedule(world_.clock.now() + again,
                          [this, weak = std::weak_ptr(alive_), to, from, there, answer] {
                              if (!weak.expired()) reach(to, from, there, answer);
                          });
}

void Database::write(const std::string& from, Writing work, Answer answer, Noted noted) {
    const std::string to = primary();
    travel(from, to, [=, this] { reach(to, from, [=, this] { take(from, work, answer, noted); }, answer); });
}

void Database::take(const std::string& from, const Writing& work, const Answer& answer, const Noted& noted) {
    Node& node = primary_node();
    const std::string to = node.machine;
    const ServerTime at = time_of(node);
    const auto done = transact(*node.rows, work, at);
    if (!done) return travel(to, from, [answer, done] { answer(done); });
    if (noted.commit) {
        commits_.insert({noted.commit->epoch, noted.commit->number});
        leases_.committed(noted.commit->epoch, noted.commit->number);
    }
    if (noted.lease) noted.lease(leases_, world_.clock.now());
    log_.push_back({.work = work, .at = at, .written = world_.clock.now(), .commit = noted.commit});
    node.applied = log_.size();
    const auto acknowledge = [this, to, from, answer] { travel(to, from, [answer] { answer({}); }); };
    const bool waits = synchronous() && !acknowledges_early;
    waits ? void(log_.back().acknowledge = acknowledge) : acknowledge();
    const Duration lag = waits ? way_min : Duration{static_cast<std::int64_t>(dice_.below(800'000'000))};
    world_.clock.schedule(world_.clock.now() + lag, [this, weak = std::weak_ptr(alive_)] {
        if (!weak.expired()) ship();
    });
}

// Reads see what is acknowledged: a commit that waits for its standby is not visible to anybody yet.
void Database::read(const std::string& from, Reading work, Answer answer) {
    const std::string to = primary();
    const auto there = [=, this] {
        Node& node = synchronous() && !acknowledges_early ? standby_node() : primary_node();
        sql::Rows rows{*node.rows};
        const auto done = work(rows, time_of(primary_node()));
        travel(to, from, [answer, done] { answer(done); });
    };
    travel(from, to, [=, this] { reach(to, from, there, answer); });
}

// Whether somebody has put it forward.
void Database::look_at_clock() {
    const auto ahead = world_.machine(primary()).skew.wall;
    if (ahead > std::exchange(ahead_, ahead)) leases_.put_forward(world_.clock.now());
}

// To the standby, and then to those who wait for it.
void Database::ship() {
    Node& to = standby_node();
    if (!awake(to) || !awake(primary_node()) || !world_.network.reaches(primary_node().machine, to.machine))
        return;  // watch() tries again.
    replay(to, log_.size());
    for (std::size_t i = acknowledged_; i < to.applied; ++i)
        if (auto acknowledge = std::exchange(log_[i].acknowledge, nullptr)) acknowledge();
    acknowledged_ = to.applied;
}

// Whoever looks after the servers: a primary that is away for ten seconds is turned off, and its standby is
// promoted; what comes back is made a standby.
void Database::watch() {
    timer_ = world_.timers.schedule(world_.timers.now() + again, [this] { watch(); });
    look_at_clock();
    const Instant now = world_.timers.now();
    if (awake(primary_node())) primary_seen_ = now;
    if (now - primary_seen_ > 10s && awake(standby_node())) promote();
    ship();
}

// `promised`: what is gone was acknowledged to nobody.
void Database::rewind(std::size_t kept, bool promised) {
    Rewind told;
    for (std::size_t i = 0; i < log_.size(); ++i) {
        if (i == kept) told.since = log_[i].written;
        if (i >= kept) ++lost_;
        if (!log_[i].commit) continue;
        (i < kept ? told.kept : told.lost).push_back(log_[i].commit);
        if (i >= kept) commits_.erase({log_[i].commit->epoch, log_[i].commit->number});
    }
    const bool gone = kept < log_.size();
    log_.resize(kept);
    acknowledged_ = std::min(acknowledged_, kept);
    sql::Rows rows{*primary_node().rows};
    leases_.rewound(rows.meta("epoch").value(), rows.meta("number").value(), promised);
    if (gone && !promised && rewound) rewound(told);
}

void Database::restore(std::size_t transactions) {
    world_.note(fmt::format("a backup is restored: {} of {} transactions", transactions, log_.size()));
    for (Node& node : nodes_) {
        rebuild(node);
        replay(node, transactions);
        node.life = ++lives_;
    }
    rewind(transactions, false);
}

void Database::promote() {
    sim::Machine& before = world_.machine(primary());
    before.crash();
    const std::size_t kept = standby_node().applied;
    world_.note(fmt::format("{} is promoted; {} transactions went with {}", standby_node().machine,
                            log_.size() - kept, before.name));
    primary_ = 1 - primary_;
    primary_node().life = ++lives_;
    ahead_ = world_.machine(primary()).skew.wall;
    rebuild(standby_node());  // What it had alone is forgotten.
    rewind(kept, synchronous());
    ++promoted_;
    primary_seen_ = world_.timers.now();
    before.boot();
}

namespace {

// Commits go one after the other; what has gathered meanwhile goes together. After one that failed nothing is
// written before lead().
class DatabaseStore final : public Store {
public:
    DatabaseStore(Database& database, sim::Life& life)
        : database_(database), life_(life), from_(life.machine.name) {}
    ~DatabaseStore() override { end_all(Error{Code::cancelled, "the store was closed"}); }

    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        CO_TRY(sql::epoch_after(0, above));
        broken_ = false;
        struct Outcome {
            std::uint64_t epoch = 0;
            std::int64_t server = 0;
            std::optional<Contender> holder;
        };
        const auto outcome = std::make_shared<Outcome>();
        const auto take = [=, ours = led_](sql::Rows& rows, ServerTime at) -> Result<> {
            *outcome = {};
            const auto present = TRY(rows.meta("epoch"));
            auto lease = TRY(rows.lease());
            const bool mine = ours != 0 && lease.epoch == ours;
            const auto is = mine ? sql::LeaseIs::free : lease_is(lease, at.micros, at.server, micros(length));
            if (is == sql::LeaseIs::held)
                return fail(Code::conflict, lease.who.name + " leads", "lease_held");
            if (is == sql::LeaseIs::unclear) {
                lease.server = at.server;
                lease.ends = at.micros + micros(length);
                outcome->holder = lease.who;
                return rows.set_lease(lease);
            }
            outcome->server = at.server;
            outcome->epoch = TRY(sql::epoch_after(present, above));
            TRY(rows.set_meta("epoch", outcome->epoch));
            return rows.set_lease({.who = who,
                                   .epoch = outcome->epoch,
                                   .ends = at.micros + micros(length),
                                   .server = at.server});
        };
        // A standby runs it again, later: what it finds then is not this one's answer.
        const auto told = std::make_shared<Outcome>();
        auto first = std::make_shared<bool>(true);
        CO_TRY(co_await write(
            [=](sql::Rows& rows, ServerTime at) -> Result<> {
                const auto taken = take(rows, at);
                if (std::exchange(*first, false)) *told = *outcome;
                return taken;
            },
            call_max, {.lease = [told, length, from = from_](LeaseWatch& watch, Instant now) {
                if (!told->holder) watch.led({from, told->epoch}, length, now);
            }}));
        if (told->holder) co_return fail(Code::conflict, told->holder->name + " leads", "lease_held");
        led_ = told->epoch;
        connected_ = told->server;
        length_ = length;
        co_return Lease{.epoch = led_};
    }

    Task<> renew() override { return set_end(length_); }
    Task<> resign() override { return set_end({}); }

    Task<std::optional<Leader>> leader() override {
        return ask<std::optional<Leader>>(
            [](sql::Rows& rows, ServerTime at) -> Result<std::optional<Leader>> {
                const auto lease = TRY(rows.lease());
                if (lease.epoch == 0) return std::nullopt;
                const auto left = lease.server == at.server ? lease.ends - at.micros : 0;
                return Leader{.who = lease.who,
                              .epoch = lease.epoch,
                              .left = std::chrono::microseconds{std::max<std::int64_t>(left, 0)}};
            },
            lease_max);
    }

    Task<> commit(Changes changes) override {
        auto waiting = std::make_shared<Waiting>(std::move(changes));
        queue_.push_back(waiting);
        pump();
        return answer_of(std::move(waiting));
    }

    Task<Snapshot> load() override {
        return load_by([](sql::Rows& rows, std::int64_t) { return rows.load(); });
    }
    Task<Snapshot> load_since(StorePoint point) override {
        return load_by([point](sql::Rows& rows, std::int64_t life) {
            return life == point.life ? rows.load_since(point.number) : rows.load();
        });
    }
    Task<Page> list(ListQuery query) override {
        return ask<Page>([query](sql::Rows& rows, ServerTime) { return rows.list(query); });
    }
    Task<Object> find(std::string kind, std::string id) override {
        return ask<Object>([kind, id](sql::Rows& rows, ServerTime) { return rows.find(kind, id); });
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return ask<std::vector<EventRecord>>(
            [query](sql::Rows& rows, ServerTime) { return rows.events(query); });
    }
    Task<AuditPage> audit(AuditQuery query) override {
        return ask<AuditPage>([query](sql::Rows& rows, ServerTime) { return rows.audit(query); });
    }
    Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override {
        return ask<AuditAnchors>(
            [after, limit](sql::Rows& rows, ServerTime) { return rows.audit_anchors(after, limit); });
    }
    Task<std::uint64_t> prune_audit(WallTime before) override {
        auto lines = std::make_shared<std::uint64_t>(0);
        CO_TRY(co_await write([before, lines](sql::Rows& rows, ServerTime) -> Result<> {
            sql::Rows::Pruned part{.more = true};
            while (part.more) {
                part = TRY(rows.prune_audit(before));
                *lines += part.lines;
            }
            return {};
        }));
        co_return *lines;
    }
    Task<> prune(WallTime before) override {
        return write([before](sql::Rows& rows, ServerTime) -> Result<> {
            while (TRY(rows.prune(before))) {
            }
            return {};
        });
    }
    // PostgreSQL's own snapshots are what makes one; nobody makes any in the storms.
    Task<std::unique_ptr<Backup>> backup(WallTime, const Digest&) override {
        co_return fail(Code::unavailable, "the simulated database makes no backups");
    }

private:
    static constexpr Duration call_max = 5s, lease_max = 1s;

    struct Waiting {
        Changes changes;
        std::optional<Result<>> answer{};
        WakerPtr<void> waker{};
        void finish(Result<> with) {
            answer = std::move(with);
            if (waker) std::exchange(waker, nullptr)->wake({});
        }
    };

    // An answer that comes after its caller's patience, or its process, has ended is nobody's.
    Task<> answered(std::function<void(std::function<void(Result<>)>)> send, Duration patience) {
        if (alive_.expired())
            co_return fail(Code::unavailable, "this process is dead");  // It resigns nothing.
        const auto waker = std::make_shared<WakerPtr<void>>();
        const Deadline deadline{
            life_.timers, patience, [waker] {
                if (*waker) (*waker)->wake(fail(Code::unavailable, "the database does not answer"));
            }};
        co_return co_await suspend<void>([&](WakerPtr<void> made) {
            *waker = made;
            send([made, alive = alive_](Result<> answer) {
                if (!alive.expired()) made->wake(std::move(answer));
            });
        });
    }

    Task<> write(Database::Writing work, Duration patience = call_max, Noted noted = {}) {
        co_return co_await answered([this, work = std::move(work), noted = std::move(noted)](
                                        auto answer) { database_.write(from_, work, answer, noted); },
                                    patience);
    }

    template <class T>
    Task<T> ask(std::function<Result<T>(sql::Rows&, ServerTime)> work, Duration patience = call_max) {
        const auto got = std::make_shared<std::optional<T>>();
        CO_TRY(co_await answered(
            [this, work = std::move(work), got](auto answer) {
                database_.read(
                    from_,
                    [work, got](sql::Rows& rows, ServerTime at) -> Result<> {
                        *got = TRY(work(rows, at));
                        return {};
                    },
                    answer);
            },
            patience));
        co_return std::move(**got);
    }

    Task<Snapshot> load_by(std::function<Result<Snapshot>(sql::Rows&, std::int64_t)> load) {
        return ask<Snapshot>([load = std::move(load)](sql::Rows& rows, ServerTime at) -> Result<Snapshot> {
            Snapshot snapshot = TRY(load(rows, at.server));
            snapshot.life = at.server;
            return snapshot;
        });
    }

    Task<> set_end(Duration length) {
        if (led_ == 0) co_return fail(Code::conflict, "this one has never led", "not_leader");
        co_return co_await write(
            [epoch = led_, length](sql::Rows& rows, ServerTime at) -> Result<> {
                auto lease = TRY(rows.lease());
                if (lease.epoch != epoch)
                    return fail(Code::conflict, fmt::format("epoch {} is over", epoch), "not_leader");
                lease.ends = length == Duration{} ? 0 : at.micros + micros(length);
                lease.server = at.server;
                return rows.set_lease(lease);
            },
            lease_max, {.lease = [by = Leading{from_, led_}, length](LeaseWatch& watch, Instant now) {
                length == Duration{} ? watch.resigned(by) : watch.renewed(by, length, now);
            }});
    }

    void pump() {
        if (sent_ || queue_.empty()) return;
        if (broken_) return end_all(Error{Code::unavailable, "an earlier commit's outcome is unknown"});
        sent_ = queue_.front();
        queue_.pop_front();
        const Changes& changes = sent_->changes;
        const auto written = std::make_shared<Changes>(changes);
        const auto work = [written, all = database_.admits_all, server = connected_](
                              sql::Rows& rows, ServerTime at) -> Result<> {
            if (at.server != server) return fail(Code::unavailable, "the connection was lost");
            const auto epoch = TRY(rows.meta("epoch"));
            const auto number = TRY(rows.meta("number"));
            if (!all) TRY(sql::admit(*written, epoch, number));
            TRY(rows.write(*written));
            TRY(rows.note_changed(*written));
            return rows.set_meta("number", written->number);
        };
        const auto done = [this, alive = alive_, open = std::weak_ptr(open_),
                           sent = std::weak_ptr(sent_)](Result<> answer) {
            const auto mine = sent.lock();
            if (alive.expired() || open.expired() || !mine || sent_ != mine) return;  // It was given up.
            settle(std::move(answer));
        };
        timer_ = life_.timers.schedule(life_.timers.now() + call_max, [this] {
            settle(fail(Code::unavailable, "the database does not answer; whether it is written is unknown"));
        });
        database_.write(from_, work, done, {.commit = written});
    }

    void settle(Result<> answer) {
        life_.timers.cancel(timer_);
        const bool unknown = !answer && answer.error().code == Code::unavailable;
        broken_ |= unknown;
        std::exchange(sent_, nullptr)->finish(answer);
        if (unknown) end_all(answer.error());
        pump();
    }

    void end_all(const Error& error) {
        if (error.code == Code::cancelled && sent_) {
            life_.timers.cancel(timer_);
            std::exchange(sent_, nullptr)->finish(std::unexpected(error));
        }
        for (const auto& waiting : std::exchange(queue_, {})) waiting->finish(std::unexpected(error));
    }

    static Task<> answer_of(std::shared_ptr<Waiting> waiting) {
        if (!waiting->answer)
            CO_TRY(co_await suspend<void>(
                [waiting](WakerPtr<void> waker) { waiting->waker = std::move(waker); }));
        co_return *waiting->answer;
    }

    Database& database_;
    sim::Life& life_;
    const std::weak_ptr<const void> alive_ = life_.alive;
    const std::string from_;
    std::uint64_t led_ = 0;
    std::int64_t connected_ = 0;  // To which life of which server.
    Duration length_{};
    bool broken_ = false;
    std::deque<std::shared_ptr<Waiting>> queue_;
    std::shared_ptr<Waiting> sent_;
    TimerId timer_ = 0;
    std::shared_ptr<char> open_ = std::make_shared<char>();
};

}  // namespace

std::unique_ptr<Store> open_database(Database& database, sim::Life& life) {
    return std::make_unique<DatabaseStore>(database, life);
}

}  // namespace hostler::simulation

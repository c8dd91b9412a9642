// What was acknowledged survives a power cut at any call to the disk; what was not is there whole or not at
// all.
#include <fmt/format.h>

#include <deque>

#include "adapters/sqlite/database.h"
#include "sim_rig.h"

namespace hostler::contract {

namespace {

using Key = std::pair<std::string, std::string>;

// What the store must hold after a commit.
struct Model {
    std::uint64_t number = 0;
    std::map<Key, Object> objects;
    std::uint64_t events = 0;
    std::uint64_t ledger = 0;
    std::uint64_t audit = 0;

    void apply(const Changes& changes) {
        number = changes.number;
        for (const auto& key : changes.erase) objects.erase(key);
        for (Object object : changes.put) {
            const auto there = objects.find({object.kind, object.id});
            object.created = there == objects.end() ? number : there->second.created;
            object.version = number;
            objects[{object.kind, object.id}] = std::move(object);
        }
        events += changes.events.size();
        ledger += changes.ledger.size();
        audit += changes.audit.size();
    }
};

// A master's life on a disk: leads, commits in bursts, and knows what it was told.
class Story {
public:
    explicit Story(std::uint64_t seed) : rig(seed), dice_(sim::Dice{seed}.fork("story")) {
        history_.push_back({});
    }

    // Becomes the leader and compares what is there. false: the disk failed meanwhile.
    bool begin() { return lead() && check() && lead(); }

    // false: a commit failed, this leader is done.
    bool burst() {
        std::vector<Task<>> calls;
        const auto count = 1 + dice_.below(6);
        const std::uint64_t first = issued_ + 1;
        for (std::uint64_t i = 0; i < count; ++i) {
            Changes changes = dream();
            Model model = history_.back();
            model.apply(changes);
            history_.push_back(std::move(model));
            calls.push_back(store_->commit(std::move(changes)));
        }
        bool good = true;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto answer = run(std::move(calls[i]));
            if (answer) {
                EXPECT_TRUE(good) << "a commit was written after one that was not";
                acknowledged_ = first + i;
            }
            // "Nothing was written", and nothing may come back after a power cut either.
            if (!answer && answer.error().code == Code::exhausted)
                while (history_.back().number >= first + i) history_.pop_back();
            good &= answer.has_value();
        }
        while (history_.front().number < acknowledged_) history_.pop_front();
        return good;
    }

    SimRig rig;

private:
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(rig.loop, std::move(task));
    }

    bool lead() {
        store_.reset();
        auto opened = rig.open();
        if (!opened) return false;
        store_ = std::move(*opened);
        const auto lease = run(store_->lead(m1, lease_time, 0));
        if (!lease) return false;
        EXPECT_GT(lease->epoch, epoch_);
        epoch_ = lease->epoch;
        return true;
    }

    Changes dream() {
        Changes changes{.epoch = epoch_, .number = ++issued_};
        const auto id = [&] { return fmt::format("x-{}", dice_.below(12)); };
        const auto kind = [&] { return dice_.chance(0.3) ? "command" : "instance"; };
        for (auto n = dice_.below(4); n > 0; --n) {
            const std::size_t size = dice_.chance(0.1) ? dice_.below(20'000) : dice_.below(300);
            changes.put.push_back({.kind = kind(),
                                   .id = id(),
                                   .tenant = "acme",
                                   .phase = "ready",
                                   .generation = dice_.below(9),
                                   .live = dice_.chance(0.8),
                                   .body = std::string(size, static_cast<char>('a' + dice_.below(26)))});
        }
        if (dice_.chance(0.3)) changes.erase.push_back({kind(), id()});
        for (auto n = dice_.below(3); n > 0; --n) changes.events.push_back({.kind = "instance", .id = id()});
        for (auto n = dice_.below(3); n > 0; --n) changes.ledger.push_back({.claim = id(), .body = "{}"});
        if (dice_.chance(0.3)) changes.audit.push_back({.actor = "key/k-1", .status = 200});
        return changes;
    }

    bool check() {
        const auto snapshot = run(store_->load());
        if (!snapshot) return false;
        EXPECT_GE(snapshot->number, acknowledged_) << "what was acknowledged is gone";
        const auto model = std::find_if(history_.begin(), history_.end(),
                                        [&](const Model& one) { return one.number == snapshot->number; });
        EXPECT_NE(model, history_.end()) << snapshot->number;
        if (model == history_.end()) return true;
        std::map<Key, Object> there;
        for (const auto& object : snapshot->live) there[{object.kind, object.id}] = object;
        for (const std::string kind : {"instance", "command"}) {
            const auto page = run(store_->list({.kind = kind, .limit = 1000}));
            if (!page) return false;
            for (const auto& object : page->objects) there[{object.kind, object.id}] = object;
        }
        EXPECT_EQ(there, model->objects) << "something is half there at commit " << snapshot->number;
        if (!count(*model)) return false;
        // From here on this is the past: what was not acknowledged and is not there must never come back.
        Model now = *model;
        issued_ = acknowledged_ = now.number;
        history_.clear();
        history_.push_back(std::move(now));
        return true;
    }

    bool count(const Model& model) {
        store_.reset();
        const auto database = sqlite::Database::open("store.db", rig.vfs.name());
        if (!database || !(*database)->script("PRAGMA locking_mode = EXCLUSIVE")) return false;
        std::map<std::string, std::uint64_t> lines;
        for (const std::string table : {"events", "ledger", "audit"})
            if (!(*database)->run("SELECT count(*) FROM " + table, {},
                                  [&](const sql::Row& row) { lines[table] = row.number(0); }))
                return false;
        EXPECT_EQ(lines["events"], model.events);
        EXPECT_EQ(lines["ledger"], model.ledger);
        EXPECT_EQ(lines["audit"], model.audit);
        return true;
    }

    sim::Dice dice_;
    std::unique_ptr<Store> store_;
    std::uint64_t epoch_ = 0;
    std::uint64_t issued_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::deque<Model> history_;  // From the last acknowledged commit to the last that was called.
};

void live_and_die(std::uint64_t seed, int deaths) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Story story{seed};
    sim::Dice dice = sim::Dice{seed}.fork("deaths");
    for (int death = 0; death < deaths && !::testing::Test::HasFailure(); ++death) {
        if (dice.chance(0.3)) story.rig.vfs.crash_on_call(1 + dice.below(40));  // While it starts, too.
        for (int tries = 0; !story.begin(); ++tries) ASSERT_LT(tries, 50);
        if (dice.chance(0.5))
            story.rig.vfs.crash_on_call(1 + dice.below(200));
        else
            story.rig.vfs.capacity = story.rig.vfs.used() + dice.below(100'000);
        while (story.burst()) {
        }
        if (story.rig.vfs.capacity != UINT64_MAX) story.rig.vfs.crash();
        story.rig.vfs.capacity = UINT64_MAX;
        if (dice.chance(0.2)) story.rig.vfs.crash();  // And again, before anybody looked.
    }
}

}  // namespace

TEST(StoreCrash, NothingAcknowledgedIsLostAndNothingIsHalf) {
    for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) live_and_die(seed, 12);
}

// One failing call at every place of a story that opens, leads, commits, fills the log and opens again.
TEST(StoreCrash, EveryCallMayFailOnce) {
    for (std::uint64_t n = 1;; ++n) {
        SCOPED_TRACE(fmt::format("call {} fails", n));
        Story story{101};
        story.rig.vfs.fail_call(n);
        for (int part = 0; part < 2; ++part) {
            for (int tries = 0; !story.begin(); ++tries) ASSERT_LT(tries, 3);
            for (int burst = 0; burst < 3; ++burst)
                if (!story.burst()) break;
        }
        ASSERT_FALSE(HasFailure());
        if (story.rig.vfs.calls() < n) break;  // Nothing failed: the whole story was told.
        ASSERT_LT(n, 5000u);
    }
}

// The power goes in each write in turn, and in each other call: of the write some pieces are there, or none.
TEST(StoreCrash, EveryWriteMayBeTorn) {
    for (const std::uint64_t seed : {101}) {
        for (std::uint64_t n = 1;; ++n) {
            SCOPED_TRACE(fmt::format("seed {}, the power goes in call {}", seed, n));
            Story story{seed};
            story.rig.vfs.crash_on_call(n);
            for (int part = 0; part < 2; ++part) {
                for (int tries = 0; !story.begin(); ++tries) ASSERT_LT(tries, 3);
                for (int burst = 0; burst < 3; ++burst)
                    if (!story.burst()) break;
            }
            for (int tries = 0; !story.begin(); ++tries)
                ASSERT_LT(tries, 3);  // What came last is there, too.
            ASSERT_FALSE(HasFailure());
            if (!story.rig.vfs.crashed_on_call()) break;  // The power stayed: the whole story was told.
            ASSERT_LT(n, 5000u);
        }
    }
}

TEST(StoreCrash, TheSameSeedTellsTheSameStory) {
    const auto tell = [](std::uint64_t seed) {
        Story story{seed};
        EXPECT_TRUE(story.begin());
        story.rig.vfs.crash_on_call(150);
        while (story.burst()) {
        }
        EXPECT_TRUE(story.begin());
        return std::pair{story.rig.vfs.calls(), story.rig.vfs.used()};
    };
    EXPECT_EQ(tell(5), tell(5));
    EXPECT_NE(tell(5), tell(6));
}

}  // namespace hostler::contract

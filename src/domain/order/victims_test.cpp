#include "domain/order/victims.h"

#include <gtest/gtest.h>

#include <random>

#include "domain/order/round.h"

namespace hostler {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t begin = 1'790'000'000 * second;
constexpr Amount gpus(std::int64_t count) { return {count * 1000, 0, 0}; }

using Ids = std::vector<std::string>;
Ids ids(const std::vector<Victim>& victims) {
    Ids all;
    for (const Victim& victim : victims) all.push_back(victim.id);
    return all;
}

struct Cluster {
    Cluster() { EXPECT_TRUE(order.set_capacity(gpus(8))); }
    void guarantee(const QueuePath& path, std::int64_t count) {
        EXPECT_TRUE(order.set_queue(path, {1, gpus(count), {}}));
    }
    void run(const std::string& id, const QueuePath& path, std::int64_t count, std::int64_t started_s,
             int priority = 0) {
        EXPECT_TRUE(order.start({id, path, priority, gpus(count), begin + started_s * second}));
    }
    void wait(const std::string& id, const QueuePath& path, std::int64_t count, int priority = 0) {
        EXPECT_TRUE(order.wait({id, path, priority, begin, gpus(count)}));
    }
    // Enough when so many GPUs are free.
    std::optional<std::vector<Victim>> find(const std::string& id, const EvictionRules& rules = {}) {
        const std::int64_t needs = order.waiting(id)->size.gpu_milli;
        return victims(order, id, rules, begin + 1'000 * second, [&](const std::vector<Victim>& gone) {
            std::int64_t free = order.capacity().gpu_milli - order.allocated({}).gpu_milli;
            for (const Victim& victim : gone) free += order.running(victim.id)->size.gpu_milli;
            return free >= needs;
        });
    }
    Order order;
};

const QueuePath a{"a", "p", "u"}, b{"b", "p", "u"}, b2{"b", "q", "u"};

TEST(Victims, AGuaranteeIsReclaimedFromTheYoungestThatBorrow) {
    Cluster cluster;
    cluster.guarantee({"a"}, 4);
    cluster.guarantee({"b"}, 4);
    cluster.run("b1", b, 2, 10), cluster.run("b2", b, 2, 30), cluster.run("b3", b, 2, 20),
        cluster.run("b4", b, 2, 40);
    cluster.wait("a1", a, 2);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"b4"});
    cluster.wait("a2", a, 4);
    EXPECT_EQ(ids(*cluster.find("a2")), (Ids{"b4", "b2"}));
    cluster.wait("a3", a, 5);  // More than the guarantee.
    EXPECT_EQ(cluster.find("a3"), std::nullopt);
    // Only what borrows goes.
    EXPECT_EQ(candidates(cluster.order, "a1", {}, begin + 1'000 * second).size(), 2U);
}

TEST(Victims, AMinimumRunTimeIsProtectedAndSoAreJobsThatCannotBePreempted) {
    Cluster cluster;
    cluster.guarantee({"a"}, 4);
    cluster.run("old", b, 2, 0), cluster.run("young", b, 2, 900);
    EXPECT_TRUE(cluster.order.start({"fixed", b, 0, gpus(4), begin + 950 * second, false}));
    cluster.wait("a1", a, 2);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"young"});
    EXPECT_EQ(ids(*cluster.find("a1", {101, {}})), Ids{"old"});
    EXPECT_EQ(cluster.find("a1", {1'001, {}}), std::nullopt);
    EXPECT_EQ(cluster.find("a1", {INT64_MAX, {}}), std::nullopt);
}

TEST(Victims, TheFewestGoAndOfTheseTheFirst) {
    Cluster cluster;
    cluster.guarantee({"a"}, 6);
    cluster.run("one", b, 1, 40), cluster.run("two", b, 1, 30), cluster.run("large", b, 6, 20);
    cluster.wait("a1", a, 6);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"large"});
    cluster.wait("a2", a, 1);
    EXPECT_EQ(ids(*cluster.find("a2")), Ids{"one"});
}

TEST(Victims, AJobLargerThanWhatItsQueueBorrowsGoesLast) {
    Cluster cluster;
    cluster.guarantee({"a"}, 2);
    cluster.guarantee({"b"}, 4);
    cluster.run("large", b, 6, 40);
    cluster.wait("a1", a, 1);
    EXPECT_TRUE(cluster.find("a1")->empty());  // Two are free.
    cluster.run("small", b2, 2, 10);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"small"});
    cluster.order.end("small", begin + 1'000 * second);
    cluster.run("a0", a, 1, 10), cluster.run("c", {"c", "p", "u"}, 1, 50);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"c"});
    cluster.order.end("c", begin + 1'000 * second);
    EXPECT_TRUE(cluster.order.start({"c", {"c", "p", "u"}, 0, gpus(1), begin, false}));
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"large"});
}

TEST(Victims, GuaranteesOfLowerLevelsAreKeptWhereOthersBorrow) {
    Cluster cluster;
    cluster.guarantee({"a"}, 4);
    cluster.guarantee({"b"}, 4);
    cluster.guarantee({"b", "q"}, 4);
    cluster.run("free", b, 4, 10), cluster.run("kept", b2, 4, 20);
    cluster.wait("a1", a, 2);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"free"});
    // A guarantee that exceeds its parent's does not hold against the other tenant.
    cluster.guarantee({"b", "p"}, 4);
    EXPECT_EQ(ids(*cluster.find("a1")), Ids{"kept"});
}

TEST(Victims, WhatOthersEndForAlreadyCountsOnce) {
    Cluster cluster;
    cluster.guarantee({"a"}, 2);
    cluster.guarantee({"b"}, 2);
    cluster.run("b1", b, 2, 10), cluster.run("b2", b, 2, 20), cluster.run("c1", {"c", "p", "u"}, 4, 5);
    cluster.wait("a1", a, 2), cluster.wait("a2", a, 2);
    EvictionRules rules;
    rules.leaving = {"b2"};
    EXPECT_EQ(ids(*cluster.find("a1", rules)), Ids{"c1"}) << "b has what it is guaranteed";
    rules.promised = {{a, gpus(2)}};
    EXPECT_EQ(cluster.find("a2", rules), std::nullopt) << "the guarantee is used up";
}

TEST(Victims, APriorityPreemptsInItsOwnLeafOnly) {
    Cluster cluster;
    cluster.run("low", b, 2, 10, -1), cluster.run("same", b, 2, 20, 5), cluster.run("middle", b, 2, 30, 1);
    cluster.run("other", b2, 2, 40, -9);
    cluster.wait("high", b, 2, 5);
    EXPECT_EQ(*cluster.find("high"), (std::vector<Victim>{{"low", Eviction::priority}}));
    EXPECT_EQ(ids(candidates(cluster.order, "high", {}, begin + 1'000 * second)), (Ids{"low", "middle"}));
}

TEST(Victims, ALimitCountsForWhatMakesRoom) {
    Cluster cluster;
    EXPECT_TRUE(cluster.order.set_queue({"b"}, {1, {}, Amount{4'000, Amount::most, Amount::most}}));
    cluster.run("low", b, 4, 10, -1);
    cluster.wait("high", b, 4, 5);
    EXPECT_EQ(ids(*cluster.find("high")), Ids{"low"});  // Four are free, and the tenant may not have them.
    EXPECT_EQ(victims(cluster.order, "none", {}, begin, [](const auto&) { return true; }), std::nullopt);
}

TEST(Victims, ManyCandidatesNeedFewCalls) {
    Cluster cluster;
    EXPECT_TRUE(cluster.order.set_capacity(gpus(5'000)));
    cluster.guarantee({"a"}, 4);
    for (int i = 0; i < 5'000; ++i) cluster.run("b" + std::to_string(i), b, 1, i % 900);
    cluster.wait("a1", a, 2);
    int calls = 0;
    const auto found = victims(cluster.order, "a1", {}, begin + 1'000 * second, [&](const auto& gone) {
        ++calls;
        int useful = 0;
        for (const Victim& victim : gone) useful += victim.id == "b77" || victim.id == "b4000";
        return useful == 2;
    });
    ASSERT_TRUE(found);
    EXPECT_EQ(ids(*found), (Ids{"b4000", "b77"}));
    EXPECT_LE(calls, 60);
}

// Random queues, guarantees and jobs on a counter of GPUs. A job that evicts by reclaim or priority is not
// evicted by any of its victims, in whatever order these try, even again and again.
TEST(Victims, TwoJobsNeverEvictEachOther) {
    int evictions = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 dice{seed};
        Cluster cluster;
        Order& order = cluster.order;
        ASSERT_TRUE(order.set_capacity(gpus(24)));
        const auto path = [&] {
            return QueuePath{std::string(1, char('a' + dice() % 3)), std::string(1, char('p' + dice() % 2)),
                             std::string(1, char('u' + dice() % 2))};
        };
        for (int i = 0; i < 6; ++i) {
            QueuePath prefix = path();
            if (dice() % 2) prefix.user.clear();
            if (prefix.user.empty() && dice() % 2) prefix.project.clear();
            cluster.guarantee(prefix, dice() % 12);
        }
        std::int64_t now = 0;
        const auto start = [&](const std::string& id) {
            const Waiting job = *order.waiting(id);
            ASSERT_TRUE(order.start({id, job.path, job.priority, job.size, begin + now * second}));
        };
        for (int i = 0; i < 60; ++i) {
            now += 10;
            const std::string id = "j" + std::to_string(i);
            cluster.wait(id, path(), 1 + dice() % 6, int(dice() % 3));
            const auto found = cluster.find(id);
            if (!found) continue;
            std::vector<Waiting> retries;
            for (const Victim& victim : *found) {
                const Running job = *order.running(victim.id);
                order.end(victim.id, begin + now * second);
                ASSERT_TRUE(order.wait({job.id, job.path, job.priority, begin, job.size}));
                retries.push_back({job.id, job.path, job.priority, begin, job.size});
            }
            start(id);
            std::ranges::shuffle(retries, dice);
            for (const Waiting& retry : retries) {
                ++evictions;
                for (const Victim& victim : candidates(order, retry.id, {}, begin + now * second))
                    ASSERT_NE(victim.id, id) << retry.id << " evicts its evictor, seed " << seed;
                // Nor does a victim of the victim lead back.
                const auto more = cluster.find(retry.id);
                if (!more) continue;
                for (const Victim& victim : *more) order.end(victim.id, begin + now * second);
                start(retry.id);
            }
        }
    }
    EXPECT_GT(evictions, 500);
}

// Three tenants with guarantees and one without share a counter of GPUs; a victim leaves after notice and
// grace.
class Shared {
public:
    static constexpr std::int64_t grace_s = 60, tick_s = 5;

    explicit Shared(unsigned seed) : dice_(seed) {
        EXPECT_TRUE(order_.set_capacity(gpus(16)));
        EXPECT_TRUE(order_.set_half_life(3'600, begin));
        for (const char* tenant : {"a", "b", "c"}) cluster_.guarantee({tenant}, 5);
    }
    void tick() {
        now_s_ += tick_s;
        finish(leaves_), finish(ends_);
        begin_promised();
        if (dice_() % 8 == 0)
            cluster_.wait("j" + std::to_string(++jobs_),
                          {std::string(1, char('a' + (now_s_ / 700 + dice_() % 2) % 4)), "p", "u"},
                          1 + dice_() % 3);
        Round round = order_.round(at());
        while (const auto job = round.next())
            if (consider(*job)) round.admit();
    }
    std::int64_t longest_s = 0;  // That a job waited while a guarantee covered it.
    int stuck = 0;               // Covered, and there were not enough victims.

private:
    std::int64_t at() const { return begin + now_s_ * second; }
    static std::int64_t size(const auto& job) { return job.size.gpu_milli; }
    std::int64_t unclaimed() const { return order_.capacity().gpu_milli - order_.allocated({}).gpu_milli; }

    void finish(std::map<std::string, std::int64_t>& due) {
        std::erase_if(due, [&](const auto& one) {
            if (one.second > now_s_) return false;
            order_.end(one.first, at());
            return true;
        });
    }
    // The first of those whose victims were told begin when the GPUs are free.
    void begin_promised() {
        std::int64_t free = unclaimed();
        for (const std::string& id : promised_) free += size(*order_.running(id));
        while (!promised_.empty() && size(*order_.running(promised_.front())) <= free) {
            free -= size(*order_.running(promised_.front()));
            begins(promised_.front());
            promised_.erase(promised_.begin());
        }
    }
    void begins(const std::string& id) {
        ends_[id] = now_s_ + 50 + std::int64_t(dice_() % 2'000);
        if (const auto since = covered_.find(id); since != covered_.end())
            longest_s = std::max(longest_s, now_s_ - since->second);
    }
    // A job counts as running from when its victims are told.
    bool consider(const Waiting& job) {
        const Amount guaranteed = job.path.tenant == "d" ? Amount{} : gpus(5);
        if (covers(guaranteed, order_.allocated({job.path.tenant}), job.size))
            covered_.try_emplace(job.id, now_s_);
        else
            covered_.erase(job.id);
        const bool fits = size(job) <= unclaimed();
        if (!fits && !(covered_.contains(job.id) && evict(job))) return false;
        EXPECT_TRUE(order_.start({job.id, job.path, 0, job.size, at()}));
        if (fits)
            begins(job.id);
        else
            promised_.push_back(job.id);
        return true;
    }
    bool evict(const Waiting& job) {
        std::int64_t room = unclaimed();
        for (const auto& [id, when] : leaves_) room += size(*order_.running(id));
        const auto found = victims(order_, job.id, {}, at(), [&](const std::vector<Victim>& gone) {
            std::int64_t more = 0;
            for (const Victim& victim : gone)
                if (!leaves_.contains(victim.id)) more += size(*order_.running(victim.id));
            return room + more >= size(job);
        });
        if (!found) return ++stuck, false;
        for (const Victim& victim : *found) {
            leaves_.try_emplace(victim.id, now_s_ + grace_s);
            ends_.erase(victim.id);
            std::erase(promised_, victim.id);
        }
        return true;
    }

    std::mt19937 dice_;
    Cluster cluster_;
    Order& order_ = cluster_.order;
    std::map<std::string, std::int64_t> leaves_, ends_, covered_;  // Seconds.
    Ids promised_;
    std::int64_t now_s_ = 0;
    int jobs_ = 0;
};

TEST(Victims, NoGuaranteeWaitsLongerThanNoticeAndGrace) {
    std::int64_t longest_s = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Shared shared{seed};
        for (int i = 0; i < 500; ++i) shared.tick();
        EXPECT_EQ(shared.stuck, 0) << "others borrow and none gives way, seed " << seed;
        EXPECT_LE(shared.longest_s, Shared::grace_s) << "seed " << seed;
        longest_s = std::max(longest_s, shared.longest_s);
    }
    EXPECT_EQ(longest_s, Shared::grace_s) << "some had to wait for it";
}

}  // namespace
}  // namespace hostler

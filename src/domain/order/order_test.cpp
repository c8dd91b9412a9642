#include "domain/order/order.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "domain/order/round.h"
#include "domain/order/testing/plain.h"

namespace hostler {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t begin = 1'790'000'000 * second;
constexpr Amount gpus(std::int64_t count) { return {count * 1000, 0, 0}; }

// The same history, told to the fast order and to the plain one.
struct Both {
    explicit Both(unsigned seed) : dice(seed) {
        plain.capacity = {64'000, dice() % 4 == 0 ? 0 : 512'000, std::int64_t{1} << 40};
        plain.half_life_s = std::array{0, 60, 3'600, 7 * 86'400}[dice() % 4];
        EXPECT_TRUE(order.set_capacity(plain.capacity));
        EXPECT_TRUE(order.set_half_life(plain.half_life_s, now));
        tenants = 1 + dice() % 4;
    }

    QueuePath path() {
        return {std::string{"t"} + char('0' + dice() % tenants), std::string{"p"} + char('0' + dice() % 3),
                std::string{"u"} + char('0' + dice() % 3)};
    }
    Amount size() {
        if (one_size) return {1000, 4000, std::int64_t{1} << 30};
        return {std::int64_t(dice() % 9) * 500, std::int64_t(dice() % 9) * 2000,
                std::int64_t(dice() % 5) << 34};
    }
    void settings() {
        QueuePath prefix = path();
        if (dice() % 3 == 0) prefix.user.clear();
        if (prefix.user.empty() && dice() % 2 == 0) prefix.project.clear();
        if (dice() % 5 == 0) {
            plain.queues.erase(prefix);
            return order.clear_queue(prefix);
        }
        Queue queue;
        queue.weight = std::array{1.0, 0.5, 2.0, 3.7, 1000.0}[dice() % 5];
        if (dice() % 2 == 0) queue.guaranteed = {std::int64_t(dice() % 12) * 1000, 0, 0};
        if (dice() % 4 == 0) queue.guaranteed.cpu_milli = std::int64_t(dice() % 12) * 4000;
        if (dice() % 3 == 0 && !one_size)
            queue.most = Amount{std::int64_t(dice() % 20) * 1000, Amount::most, Amount::most};
        plain.queues[prefix] = queue;
        EXPECT_TRUE(order.set_queue(prefix, queue));
    }
    void wait() {
        const Waiting job{"j" + std::to_string(++jobs), path(), int(dice() % 3) - 1,
                          now - std::int64_t(dice() % 4) * second, size()};
        plain.waiting[job.id] = job;
        EXPECT_TRUE(order.wait(job));
    }
    void start(const Waiting& job) {
        const Running running{job.id, job.path, job.priority, job.size, now, true};
        plain.waiting.erase(job.id);
        plain.running[running.id] = running;
        EXPECT_TRUE(order.start(running));
    }
    template <class Map>
    std::string any(const Map& map) {
        return map.empty() ? "" : std::next(map.begin(), std::ptrdiff_t(dice() % map.size()))->first;
    }
    void end() {
        const std::string id = any(plain.running);
        if (id.empty()) return;
        const Running job = plain.running.at(id);
        plain.ran.push_back({job.path, job.size, job.started, now});
        plain.running.erase(id);
        order.end(id, now);
    }
    void withdraw() {
        const std::string id = any(plain.waiting);
        plain.waiting.erase(id);
        order.withdraw(id);
    }
    void step() {
        now += std::int64_t(dice() % 100'000'000);
        if (dice() % 50 == 0) now += plain.half_life_s * second * std::int64_t(dice() % 90);
        const unsigned what = dice() % 10;
        if (what == 0)
            settings();
        else if (what < 6)
            wait();
        else if (what < 7)
            withdraw();
        else if (what < 8 && !plain.waiting.empty())
            start(plain.waiting.at(any(plain.waiting)));
        else
            end();
    }

    std::mt19937 dice;
    unsigned tenants = 1;
    bool one_size = false;
    int jobs = 0;
    std::int64_t now = begin;
    PlainOrder plain;
    Order order;
};

// A round of both with the same random answers, the deltas told between the steps or at the end.
void expect_same_round(Both& both, const std::string& what) {
    Round fast = both.order.round(both.now);
    PlainOrder then = both.plain;
    PlainRound slow{then, both.now, Round::over_limit_max};
    const bool tells = both.dice() % 2 == 0;
    const unsigned admits = both.dice() % 4;
    std::vector<Waiting> admitted;
    for (;;) {
        const auto expected = slow.next();
        const auto offered = fast.next();
        ASSERT_EQ(offered, expected) << what << (offered ? offered->id : "none") << " instead of "
                                     << (expected ? expected->id : "none");
        if (!offered) break;
        if (both.dice() % 4 < admits) {
            slow.admit(), fast.admit();
            if (tells)
                both.start(*offered);
            else
                admitted.push_back(*offered);
        } else if (both.dice() % 16 == 0) {
            slow.refuse_queue(), fast.refuse_queue();
        } else {
            fast.refuse();
        }
    }
    std::vector<std::string> left_out;
    for (const LeftOut& job : fast.left_out()) left_out.push_back(job.job);
    ASSERT_EQ(left_out, slow.left_out) << what;
    for (const Waiting& job : admitted) both.start(job);
}

TEST(Order, EqualsThePlainOneOnRandomTrees) {
    for (unsigned seed = 1; seed <= 1'000; ++seed) {
        Both both{seed};
        for (int round = 0; round < 1 + int(seed % 2); ++round) {
            for (unsigned i = both.dice() % 36; i > 0; --i) both.step();
            expect_same_round(both, "seed " + std::to_string(seed) + ": ");
            if (HasFatalFailure()) return;
        }
    }
}

std::vector<std::string> listing(const Order& order, std::int64_t now, bool admits) {
    std::vector<std::string> ids;
    Round round = order.round(now);
    while (const auto job = round.next()) {
        ids.push_back(job->id);
        if (admits) round.admit();
    }
    return ids;
}

TEST(Order, KeptByDeltasEqualsOneBuiltFromTheJobs) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        Both both{seed};
        for (int i = 0; i < 150; ++i) both.step();
        Order built;
        ASSERT_TRUE(built.set_capacity(both.plain.capacity));
        ASSERT_TRUE(built.set_half_life(both.plain.half_life_s, both.now));
        for (const auto& [prefix, queue] : both.plain.queues) ASSERT_TRUE(built.set_queue(prefix, queue));
        for (const Settled& settled : both.order.settled(both.now)) ASSERT_TRUE(built.settle(settled));
        for (const auto& [id, job] : both.plain.waiting) ASSERT_TRUE(built.wait(job));
        for (const auto& [id, job] : both.plain.running) ASSERT_TRUE(built.start(job));
        const std::int64_t later = both.now + 10 * second;
        for (const bool admits : {false, true})
            ASSERT_EQ(listing(built, later, admits), listing(both.order, later, admits)) << "seed " << seed;
        ASSERT_EQ(built.waiting_count(), both.plain.waiting.size());
        for (const Standing& standing : built.standings(later)) {
            const auto other = both.order.standing(standing.path, later);
            ASSERT_TRUE(other);
            ASSERT_EQ(other->allocated, standing.allocated);
            ASSERT_EQ(other->waiting, standing.waiting);
            ASSERT_EQ(other->running, standing.running);
            ASSERT_NEAR(other->used, standing.used, 1e-9);
            ASSERT_NEAR(other->entitled, standing.entitled, 1e-9);
            ASSERT_EQ(other->oldest, standing.oldest);
        }
    }
}

TEST(Order, PositionIsThatOfARoundThatAdmitsAll) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        Both both{seed};
        both.one_size = true;
        for (int i = 0; i < 120; ++i) both.step();
        const auto ids = listing(both.order, both.now, true);
        for (std::size_t i = 0; i < ids.size(); ++i)
            ASSERT_EQ(both.order.position(ids[i], both.now), std::int64_t(i))
                << "seed " << seed << ' ' << ids[i];
    }
    EXPECT_EQ(Order{}.position("none", begin), std::nullopt);
}

TEST(Order, UsageDecaysAndIsForgotten) {
    Order order;
    ASSERT_TRUE(order.set_capacity(gpus(10)));
    ASSERT_TRUE(order.set_half_life(3'600, begin));
    const QueuePath queue{"t", "p", "u"};
    ASSERT_TRUE(order.start({"a", queue, 0, gpus(10), begin}));
    EXPECT_NEAR(order.standing(queue, begin + 3'600 * second)->used, 0.5, 1e-12);
    order.end("a", begin + 3'600 * second);
    EXPECT_NEAR(order.standing(queue, begin + 3'600 * second)->used, 0.5, 1e-12);
    EXPECT_NEAR(order.standing(queue, begin + 7'200 * second)->used, 0.25, 1e-12);
    // Another half-life from then on; what was used counts as before.
    ASSERT_TRUE(order.set_half_life(60, begin + 7'200 * second));
    EXPECT_NEAR(order.standing(queue, begin + 7'200 * second)->used, 0.25, 1e-12);
    EXPECT_NEAR(order.standing(queue, begin + 7'260 * second)->used, 0.125, 1e-12);
    // Long after that the queue is no longer known.
    ASSERT_TRUE(order.start({"b", {"t", "p", "v"}, 0, gpus(1), begin + 100'000 * second}));
    EXPECT_EQ(order.standing(queue, begin + 100'000 * second), std::nullopt);
}

TEST(Order, StopsAndContinuesWhileTheOrderChanges) {
    Order order;
    ASSERT_TRUE(order.set_capacity(gpus(10)));
    for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(order.wait({id, {"t", "p", "u"}, 0, begin, gpus(1)}));
    ASSERT_TRUE(order.wait({"x", {"t", "q", "u"}, 0, begin, gpus(1)}));
    Round round = order.round(begin);
    EXPECT_EQ(round.next()->id, "a");
    round.admit();
    order.withdraw("b");
    order.withdraw("x");  // Its queue goes, too.
    ASSERT_TRUE(order.wait({"y", {"t", "q", "u"}, 0, begin, gpus(1)}));
    EXPECT_EQ(round.next()->id, "c");
    EXPECT_EQ(round.next(), std::nullopt);
    EXPECT_EQ(listing(order, begin, false), (std::vector<std::string>{"a", "c", "y"}));
}

TEST(Order, LeavesOutJobsOverALimitAndSaysWhose) {
    Order order;
    ASSERT_TRUE(order.set_capacity(gpus(10)));
    Queue queue;
    queue.most = Amount{3'000, Amount::most, Amount::most};
    ASSERT_TRUE(order.set_queue({"t", "p", ""}, queue));
    ASSERT_TRUE(order.wait({"large", {"t", "p", "u"}, 0, begin, gpus(4)}));
    ASSERT_TRUE(order.wait({"small", {"t", "p", "u"}, 0, begin + 1, {2'000, 1 << 30, 0}}));
    ASSERT_TRUE(order.wait({"third", {"t", "p", "u"}, 0, begin + 2, gpus(2)}));
    Round round = order.round(begin);
    EXPECT_EQ(round.next()->id, "small");
    round.admit();
    EXPECT_EQ(round.next(), std::nullopt);
    ASSERT_EQ(round.left_out().size(), 2U);
    EXPECT_EQ(round.left_out()[0].job, "large");
    EXPECT_EQ(round.left_out()[0].queue, (QueuePath{"t", "p", ""}));
    EXPECT_EQ(order.at_limit("large"), (QueuePath{"t", "p", ""}));
    EXPECT_EQ(order.at_limit("third"), std::nullopt);
}

TEST(Order, RefusesWrongInput) {
    Order order;
    const QueuePath path{"t", "p", "u"};
    EXPECT_FALSE(order.set_capacity({-1, 0, 0}));
    EXPECT_FALSE(order.set_capacity({0, INT64_MAX, 0}));
    EXPECT_FALSE(order.set_half_life(-1, begin));
    EXPECT_FALSE(order.set_half_life(INT64_MAX, begin));
    for (const double weight :
         {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300, 1e-300})
        EXPECT_FALSE(order.set_queue(path, {weight, {}, {}})) << weight;
    const auto wrong = order.set_queue(path, {std::nan(""), {-1, 0, 0}, Amount{0, -1, 0}});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().fields.size(), 3U);
    EXPECT_FALSE(order.set_queue({}, {}));
    EXPECT_FALSE(order.set_queue({"t", "", "u"}, {}));
    EXPECT_FALSE(order.wait({"", path, 0, begin, gpus(1)}));
    EXPECT_FALSE(order.wait({"a", {"t", "", "u"}, 0, begin, gpus(1)}));
    EXPECT_FALSE(order.wait({"a", path, 0, -1, gpus(1)}));
    EXPECT_FALSE(order.wait({"a", path, 0, INT64_MAX, gpus(1)}));
    EXPECT_FALSE(order.wait({"a", path, 0, begin, {INT64_MAX, 0, 0}}));
    EXPECT_FALSE(order.start({"a", path, 0, {0, 0, INT64_MIN}, begin}));
    EXPECT_FALSE(order.settle({path, {std::nan(""), 0, 0}, begin}));
    EXPECT_FALSE(order.settle({path, {-1, 0, 0}, begin}));
    EXPECT_EQ(order.waiting_count() + order.running_count(), 0U);
    EXPECT_TRUE(order.standings(begin).empty());
    // Sums that would overflow are refused, and leave the waiting job as it is.
    ASSERT_TRUE(order.wait({"last", path, 0, begin, {Amount::most, 0, 0}}));
    for (int i = 0; i < 4'096; ++i)
        ASSERT_TRUE(order.start({std::to_string(i), path, 0, {Amount::most, 0, 0}, begin}));
    EXPECT_EQ(order.start({"last", path, 0, {Amount::most, 0, 0}, begin}).error().code, Code::exhausted);
    EXPECT_TRUE(order.waiting("last"));
    // Priorities and times at their ends.
    ASSERT_TRUE(order.wait({"low", path, INT_MIN, 0, gpus(1)}));
    ASSERT_TRUE(order.wait({"high", path, INT_MAX, std::int64_t{1} << 61, gpus(1)}));
    EXPECT_EQ(listing(order, INT64_MIN, false), (std::vector<std::string>{"high", "last", "low"}));
    order.end("1", INT64_MIN);
    order.end("2", INT64_MAX);
}

TEST(Order, OffersEveryJobOfManyQueues) {
    Order order;
    ASSERT_TRUE(order.set_capacity(gpus(1'000)));
    ASSERT_TRUE(order.set_half_life(86'400, begin));
    for (int i = 0; i < 20'000; ++i) {
        const std::string queue = std::to_string(i % 200);
        ASSERT_TRUE(order.wait({"job-" + std::to_string(i),
                                {queue.substr(0, 1), queue.substr(0, 2), queue},
                                i % 3,
                                begin + i,
                                gpus(1)}));
    }
    Round round = order.round(begin);
    int offered = 0;
    while (round.next()) {
        if (++offered % 2) round.admit();
    }
    EXPECT_EQ(offered, 20'000);
    EXPECT_TRUE(order.position("job-19999", begin));
}

}  // namespace
}  // namespace hostler

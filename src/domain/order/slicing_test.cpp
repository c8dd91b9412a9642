#include "domain/order/slicing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "domain/order/victims.h"

namespace hostler {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t begin = 1'790'000'000 * second;
constexpr Amount gpus(std::int64_t count) { return {count * 1000, 0, 0}; }
const Enough one = [](const std::vector<Victim>& gone) { return !gone.empty(); };

TEST(Slicing, SaysWhatPartOfItsTimeAJobRan) {
    const Slicing slicing{600, 0.25, 100};
    EXPECT_DOUBLE_EQ(served(slicing, begin, 0, begin), 1);
    EXPECT_DOUBLE_EQ(served(slicing, begin, 0, begin + 300 * second), 0.25);
    EXPECT_DOUBLE_EQ(served(slicing, begin, 300 * second, begin + 700 * second), 0.5);
    EXPECT_DOUBLE_EQ(served({1, 0, 0}, begin, 0, begin - second), 1);  // A clock that went back.
    EXPECT_TRUE(check(slicing));
    const auto wrong = check(Slicing{0, std::nan(""), -1});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().fields.size(), 3U);
}

TEST(Slicing, TheJobThatHadMoreYieldsAfterItsSliceToOneThatHadLess) {
    Order order;
    ASSERT_TRUE(order.set_capacity(gpus(2)));
    ASSERT_TRUE(order.start({"long", {"t", "p", "a"}, 0, gpus(1), begin, true, begin}));
    ASSERT_TRUE(
        order.start({"late", {"t", "p", "b"}, 0, gpus(1), begin + 500 * second, true, begin + 400 * second}));
    ASSERT_TRUE(order.start({"fixed", {"t", "p", "d"}, 0, gpus(1), begin, false, begin}));
    ASSERT_TRUE(order.wait({"waits", {"t", "p", "c"}, 0, begin + 100 * second, gpus(1)}));
    EvictionRules rules{0, Slicing{600, 0.25, 100}};
    const auto found = [&](std::int64_t after_s) {
        return victims(order, "waits", rules, begin + after_s * second, one);
    };
    EXPECT_EQ(found(300), std::nullopt);  // It has its grace.
    EXPECT_EQ(found(599), std::nullopt);  // The slice is not over.
    EXPECT_EQ(found(600), (std::vector<Victim>{{"long", Eviction::slice}}));
    EXPECT_EQ(candidates(order, "waits", rules, begin + 2'000 * second).size(), 2U);
    // After the swap the victim claims back only when it has had less than it is promised, and the slice is
    // over.
    order.end("long", begin + 600 * second);
    ASSERT_TRUE(order.wait({"long", {"t", "p", "a"}, 0, begin, gpus(1), 600 * second}));
    ASSERT_TRUE(order.start(
        {"waits", {"t", "p", "c"}, 0, gpus(1), begin + 600 * second, true, begin + 100 * second}));
    EXPECT_TRUE(candidates(order, "long", rules, begin + 1'199 * second).empty());
    EXPECT_TRUE(candidates(order, "long", rules, begin + 2'000 * second).empty());
    EXPECT_FALSE(candidates(order, "long", rules, begin + 3'000 * second).empty());
    rules.slicing.reset();
    EXPECT_TRUE(candidates(order, "long", rules, begin + 3'000 * second).empty());
}

TEST(Slicing, ManyJobsOfOneQueueTakeNoMoreThanItsShare) {
    Order order;
    ASSERT_TRUE(order.set_capacity(gpus(4)));
    for (int i = 0; i < 2; ++i) {
        const std::string n = std::to_string(i);
        ASSERT_TRUE(order.start({"many" + n, {"many", "p", "u"}, 0, gpus(1), begin, true, begin}));
        ASSERT_TRUE(order.start({"one" + n, {"one", "p", "u"}, 0, gpus(1), begin, true, begin}));
    }
    for (int i = 2; i < 50; ++i)
        ASSERT_TRUE(order.wait({"many" + std::to_string(i), {"many", "p", "u"}, 0, begin, gpus(1)}));
    const EvictionRules rules{0, Slicing{600, 0.25, 100}};
    for (const Victim& victim : candidates(order, "many7", rules, begin + 10'000 * second))
        EXPECT_TRUE(victim.id.starts_with("many")) << victim.id;
}

}  // namespace
}  // namespace hostler

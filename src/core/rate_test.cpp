#include "core/rate.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant start{seconds{100}};

TEST(Rate, GivesTheBurstThenRefillsEvenly) {
    Rate rate{{.per_second = 2, .burst = 3}};
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(rate.take(start));
    EXPECT_FALSE(rate.take(start));
    EXPECT_FALSE(rate.take(start + milliseconds{499}));
    EXPECT_TRUE(rate.take(start + milliseconds{500}));
    EXPECT_FALSE(rate.take(start + milliseconds{500}));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(rate.take(start + seconds{60}));  // Never more than the burst.
    EXPECT_FALSE(rate.take(start + seconds{60}));
}

TEST(Rate, OwingTellsHowLongToRest) {
    Rate rate{{.per_second = 10, .burst = 5}};
    EXPECT_EQ(rate.owe(start, 5), Duration{0});
    EXPECT_EQ(rate.owe(start, 1), milliseconds{100});
    EXPECT_EQ(rate.owe(start, 1), milliseconds{200});
    EXPECT_FALSE(rate.full(start + milliseconds{600}));
    EXPECT_TRUE(rate.full(start + milliseconds{800}));
}

TEST(Rates, OnePeerDoesNotSpendAnothersAndStrangersAreBounded) {
    Rates rates{{.per_second = 1, .burst = 1}, 2};
    EXPECT_TRUE(rates.take("a", start));
    EXPECT_FALSE(rates.take("a", start));
    EXPECT_TRUE(rates.take("b", start));
    EXPECT_FALSE(rates.take("c", start)) << "two peers are known, and neither has its budget back";
    EXPECT_TRUE(rates.take("c", start + seconds{2}));
    EXPECT_EQ(rates.size(), 1U);
}

}  // namespace
}  // namespace hostler

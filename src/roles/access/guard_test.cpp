#include "roles/access/guard.h"

#include <gtest/gtest.h>

namespace hostler::access {
namespace {

using namespace std::chrono_literals;

class GuardTest : public ::testing::Test {
protected:
    Guard guard_{{.faults = {.per_second = 1, .burst = 5}, .ban = 60s, .peers_max = 3}};
    Instant now_{1h};
};

TEST_F(GuardTest, ABanBeginsWhenTheBudgetIsUsedUpAndHasAnEnd) {
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(guard_.fault("a", now_));
    EXPECT_FALSE(guard_.banned("a", now_));
    EXPECT_TRUE(guard_.fault("a", now_)) << "said once";
    EXPECT_FALSE(guard_.fault("a", now_));
    EXPECT_TRUE(guard_.banned("a", now_ + 59s));
    EXPECT_FALSE(guard_.banned("a", now_ + 60s));
    EXPECT_FALSE(guard_.fault("a", now_ + 60s)) << "and the budget is whole again";
    EXPECT_FALSE(guard_.banned("b", now_)) << "others have done nothing";
}

TEST_F(GuardTest, SlowFaultsNeverBan) {
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(guard_.fault("a", now_ += 1s));
}

TEST_F(GuardTest, ManyGoodOnesBehindAnAddressPayForOneBadOne) {
    for (int i = 0; i < 200; ++i) {
        EXPECT_FALSE(guard_.fault("nat", now_)) << i;
        guard_.vouch("nat", now_);
    }
    EXPECT_TRUE(guard_.vouched("nat", now_));
    EXPECT_FALSE(guard_.vouched("nat", now_ + Guard::vouched_for));
}

TEST_F(GuardTest, IsBoundedAndForgetsOnlyWhatIsOver) {
    for (int i = 0; i < 6; ++i) guard_.fault("a", now_);
    ASSERT_TRUE(guard_.banned("a", now_));
    for (int i = 0; i < 100; ++i) guard_.fault("flood-" + std::to_string(i), now_ += 1ms);
    EXPECT_TRUE(guard_.banned("a", now_));
    EXPECT_EQ(guard_.banned_now(now_), 1U);
    now_ += 2min;
    guard_.sweep(now_);
    for (int i = 0; i < 6; ++i) guard_.fault("late", now_);
    EXPECT_TRUE(guard_.banned("late", now_)) << "there is room again";
}

}  // namespace
}  // namespace hostler::access

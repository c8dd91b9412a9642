#include "domain/order/expected.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

constexpr Amount gpus(std::int64_t count) { return {.gpu_milli = 1000 * count}; }
constexpr std::int64_t second = 1'000'000, now = 100 * second;

TEST(ExpectedStart, RoomThatIsFreeIsNow) {
    EXPECT_EQ(expected_start({}, gpus(2), {{"a", gpus(1)}, {"b", gpus(2)}}, {}, now), now);
}

TEST(ExpectedStart, IsWhenEnoughEnds) {
    const std::vector<Ending> ends{
        {"a", gpus(1), now + 30 * second}, {"a", gpus(1), now + 10 * second}, {"b", gpus(1), now + second}};
    EXPECT_EQ(expected_start({}, gpus(2), {}, ends, now), now + 30 * second);
    EXPECT_EQ(expected_start({}, gpus(1), {}, ends, now), now + second);
    EXPECT_EQ(expected_start({}, gpus(3), {}, ends, now), std::nullopt) << "a job has one place";
}

TEST(ExpectedStart, WhatIsOverItsLimitEndsNow) {
    EXPECT_EQ(expected_start({}, gpus(1), {}, {{"a", gpus(1), now - second}}, now), now);
}

TEST(ExpectedStart, JobsAheadComeFirstAndEndByTheirLimits) {
    const std::vector<Ending> ends{{"a", gpus(1), now + 10 * second}};
    EXPECT_EQ(expected_start({{gpus(1), 60 * second}}, gpus(1), {}, ends, now), now + 70 * second);
    EXPECT_EQ(expected_start({{gpus(1), 60 * second}, {gpus(1), 5 * second}}, gpus(1), {}, ends, now),
              now + 75 * second);
}

TEST(ExpectedStart, WithoutALimitItIsNotKnown) {
    EXPECT_EQ(expected_start({}, gpus(1), {}, {}, now), std::nullopt);
    EXPECT_EQ(expected_start({{gpus(1), 0}}, gpus(1), {{"a", gpus(1)}}, {}, now), std::nullopt);
}

TEST(ExpectedStart, AJobAheadThatNeverFitsStopsNothing) {
    EXPECT_EQ(expected_start({{gpus(9), second}}, gpus(1), {{"a", gpus(1)}}, {}, now), now);
}

}  // namespace
}  // namespace hostler

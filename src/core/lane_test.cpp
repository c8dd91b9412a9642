#include "core/lane.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "core/testing/real_timers.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;

class LaneTest : public ::testing::Test {
public:
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop, std::move(task));
    }
    // Posted so, an answer is on the loop only when the lane is free again.
    void until_free(Lane& lane) {
        while (lane.busy()) std::this_thread::yield();
        loop.restart();
        loop.poll();
    }

    Loop loop;
    testing::RealTimers timers{loop};
};

TEST_F(LaneTest, AnswersFromAnotherThread) {
    Lane lane{loop, "test"};
    const auto here = std::this_thread::get_id();
    auto there = run(ask<std::thread::id>(timers, 10s, lane, [] { return std::this_thread::get_id(); }));
    ASSERT_TRUE(there);
    EXPECT_NE(*there, here);
    auto again = run(ask<std::thread::id>(timers, 10s, lane, [] { return std::this_thread::get_id(); }));
    EXPECT_EQ(*again, *there) << "one thread a lane";
}

TEST_F(LaneTest, ErrorsOfTheJobComeThrough) {
    Lane lane{loop, "test"};
    auto answer = run(ask<int>(timers, 10s, lane, [] { return Result<int>{fail(Code::not_found, "no")}; }));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::not_found);
}

TEST_F(LaneTest, AHungJobKeepsOnlyItsOwnLane) {
    auto hang = std::make_shared<std::latch>(1);
    Lane stuck{loop, "stuck"};
    Lane free{loop, "free"};
    std::vector<Question<int>> questions;
    questions.push_back({&stuck, [hang] { return hang->wait(), 1; }});
    questions.push_back({&free, [] { return 2; }});
    auto answers = run(ask<int>(timers, 50ms, std::move(questions)));
    ASSERT_TRUE(answers);
    EXPECT_EQ((*answers)[0].error().code, Code::timeout);
    EXPECT_EQ((*answers)[1].value(), 2);

    auto refused = run(ask<int>(timers, 10s, stuck, [] { return 3; }));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_EQ(run(ask<int>(timers, 10s, free, [] { return 4; })).value(), 4);

    hang->count_down();
    until_free(stuck);
    EXPECT_EQ(run(ask<int>(timers, 10s, stuck, [] { return 5; })).value(), 5)
        << "a call that comes back frees it";
}

TEST_F(LaneTest, IsLeftBehindWhileAJobHangs) {
    auto hang = std::make_shared<std::latch>(1);
    auto begun = std::make_shared<std::latch>(1), ended = std::make_shared<std::latch>(1);
    {
        Lane lane{loop, "test"};
        EXPECT_FALSE(run(ask<int>(timers, 10ms, lane, [hang, begun, ended] {
            begun->count_down();
            hang->wait();
            ended->count_down();
            return 1;
        })));
        begun->wait();  // A lane that ends before its thread had a turn never begins.
    }
    hang->count_down();
    ended->wait();  // The thread goes on by itself; the loop hears nothing of it.
    loop.restart();
    EXPECT_EQ(loop.poll(), 0u);
}

TEST_F(LaneTest, WhoIsCancelledDoesNotWait) {
    auto hang = std::make_shared<std::latch>(1);
    Lane lane{loop, "test"};
    std::optional<Code> seen;
    TaskGroup group{loop};
    group.start(
        "asks",
        [](LaneTest& test, Lane& on, std::shared_ptr<std::latch> latch, std::optional<Code>& code) -> Task<> {
            auto answer = co_await ask<int>(test.timers, 10min, on, [latch] { return latch->wait(), 1; });
            code = answer ? Code::internal : answer.error().code;
            co_return Result<>{};
        }(*this, lane, hang, seen));
    loop.poll();
    ASSERT_TRUE(run(group.close()));
    EXPECT_EQ(seen, Code::cancelled);
    hang->count_down();
    until_free(lane);
}

}  // namespace
}  // namespace hostler

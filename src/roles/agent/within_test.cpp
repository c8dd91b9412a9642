#include "roles/agent/within.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler::agent {
namespace {

using namespace std::chrono_literals;

Task<> waits(Signal& signal) { co_return co_await signal.wait(); }
Task<int> answers() { co_return 7; }

TEST(Within, AnswersInTimeComeThroughAndLateOnesBecomeATimeout) {
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    EXPECT_EQ(hostler::testing::run(loop, within(loop, timers, 1s, "it", answers())), 7);
    Signal signal;
    std::optional<Result<>> answer;
    TaskGroup group{loop};
    group.start("test", [](auto& on, auto& by, auto& never, auto& into) -> Task<> {
        into = co_await within(on, by, 1s, "it", waits(never));
        co_return Result<>{};
    }(loop, timers, signal, answer));
    timers.advance(999ms);
    EXPECT_FALSE(answer);
    timers.advance(1ms);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::timeout);
    EXPECT_EQ(timers.size(), 0U);
}

TEST(Within, CancellingItCancelsWhatItWaitsFor) {
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    Signal signal;
    EXPECT_FALSE(hostler::testing::try_run(loop, within(loop, timers, 1s, "it", waits(signal))));
    EXPECT_EQ(timers.size(), 0U);
}

}  // namespace
}  // namespace hostler::agent

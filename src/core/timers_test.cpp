#include "core/timers.h"

#include <gtest/gtest.h>

#include "core/task_group.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using testing::ManualTimers;

TEST(Sleep, EndsAtItsTimeAndNotBefore) {
    Loop loop;
    ManualTimers timers{loop};
    TaskGroup group{loop};
    bool done = false;
    group.start("sleeper", [](Timers& by, bool& to) -> Task<> {
        CO_TRY(co_await sleep(by, 10s));
        to = true;
        co_return Result<>{};
    }(timers, done));
    timers.advance(9'999ms);
    EXPECT_FALSE(done);
    timers.advance(1ms);
    EXPECT_TRUE(done);
    EXPECT_EQ(timers.size(), 0u);
}

TEST(Sleep, TakesItsWakeUpAlongWhenCancelled) {
    Loop loop;
    ManualTimers timers{loop};
    TaskGroup group{loop};
    std::optional<Result<>> ended;
    group.start("sleeper", [](Timers& by, std::optional<Result<>>& to) -> Task<> {
        to = co_await sleep(by, 10s);
        to = co_await sleep(by, 10s);  // Does not even begin.
        co_return Result<>{};
    }(timers, ended));
    timers.settle();
    EXPECT_EQ(timers.size(), 1u);
    group.cancel();
    timers.settle();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->error().code, Code::cancelled);
    EXPECT_EQ(timers.size(), 0u);
    EXPECT_EQ(group.size(), 0u);
}

TEST(Sleep, MayBeGivenUpWithItsLoopAfterTheTimersHaveGone) {
    Loop loop;
    auto timers = std::make_unique<ManualTimers>(loop);
    TaskGroup group{loop};
    group.start("sleeper", sleep(*timers, 10s));
    timers->settle();
    timers.reset();  // The task is still there and is destroyed with the loop.
}

TEST(Deadline, ExpiresOnce) {
    Loop loop;
    ManualTimers timers{loop};
    int expired = 0;
    Deadline deadline{timers, 5s, [&] { ++expired; }};
    timers.advance(4s);
    EXPECT_FALSE(deadline.expired());
    timers.advance(1s);
    EXPECT_TRUE(deadline.expired());
    timers.advance(1h);
    EXPECT_EQ(expired, 1);
}

TEST(Deadline, ARenewalPutsItOffWithoutANewWakeUp) {
    Loop loop;
    ManualTimers timers{loop};
    int expired = 0;
    Deadline deadline{timers, 5s, [&] { ++expired; }};
    for (int i = 0; i < 10; ++i) {
        timers.advance(4s);
        deadline.renew(5s);
        EXPECT_EQ(timers.size(), 1u);
    }
    EXPECT_EQ(expired, 0);
    timers.advance(4'999ms);
    EXPECT_EQ(expired, 0);
    timers.advance(1ms);
    EXPECT_EQ(expired, 1);
}

TEST(Deadline, ARenewalMayBringItForward) {
    Loop loop;
    ManualTimers timers{loop};
    int expired = 0;
    Deadline deadline{timers, 1h, [&] { ++expired; }};
    deadline.renew(1s);
    timers.advance(1s);
    EXPECT_EQ(expired, 1);
    timers.advance(2h);
    EXPECT_EQ(expired, 1);
}

TEST(Deadline, ARenewalAfterExpiryCountsAnew) {
    Loop loop;
    ManualTimers timers{loop};
    int expired = 0;
    Deadline deadline{timers, 1s, [&] { ++expired; }};
    timers.advance(1s);
    deadline.renew(3s);
    EXPECT_FALSE(deadline.expired());
    timers.advance(2s);
    EXPECT_EQ(expired, 1);
    timers.advance(1s);
    EXPECT_EQ(expired, 2);
}

TEST(Deadline, LeavesNothingBehind) {
    Loop loop;
    ManualTimers timers{loop};
    {
        Deadline deadline{timers, 1s, [] { ADD_FAILURE() << "its scope has ended"; }};
    }
    EXPECT_EQ(timers.size(), 0u);
    timers.advance(1h);
}

TEST(Rfc3339, GoesThereAndBack) {
    const auto time = parse_rfc3339("2026-11-21T11:40:29.000123Z").value();
    EXPECT_EQ(rfc3339(time), "2026-11-21T11:40:29.000123Z");
    EXPECT_EQ(time.time_since_epoch(), 1795261229000123us);
    EXPECT_EQ(parse_rfc3339("2026-11-21T11:40:29Z").value(), time - 123us);
    EXPECT_EQ(parse_rfc3339("2026-11-21T11:40:29.5z").value(), time - 123us + 500ms);
    EXPECT_EQ(parse_rfc3339("2026-11-21T11:40:29.0001239Z").value(), time) << "what is finer is cut off";
    EXPECT_EQ(parse_rfc3339("2026-11-21T11:40:29+00:00").value(), time - 123us);
    EXPECT_EQ(parse_rfc3339("2026-11-21T17:10:29.000123+05:30").value(), time);
    EXPECT_EQ(parse_rfc3339("2026-11-21T03:40:29.000123-08:00").value(), time);
    EXPECT_EQ(rfc3339(WallTime{-1us}), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(rfc3339(parse_rfc3339("2024-02-29T00:00:00Z").value()), "2024-02-29T00:00:00.000000Z");
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
    for (const std::string_view text : {"",
                                        "now",
                                        "2026-11-21",
                                        "2026-11-21T11:40:29",
                                        "2026-11-21 11:40:29Z",
                                        "2026-1-2T3:4:5Z",
                                        "2026-02-30T00:00:00Z",
                                        "2026-13-01T00:00:00Z",
                                        "2026-11-21T24:00:00Z",
                                        "2026-11-21T11:60:29Z",
                                        "2026-11-21T11:40:61Z",
                                        "2026-11-21T11:40:29+24:00",
                                        "2026-11-21T11:40:29+01:60",
                                        "2026-11-21T11:40:29+0100",
                                        "2026-11-21T11:40:29 00:00",
                                        "2026-11-21T11:40:29+01:00Z",
                                        "2026-11-21T11:40:29.Z",
                                        "2026-11-21T11:40:29.5",
                                        "2026-11-21T11:40:29Zx",
                                        "+026-11-21T11:40:29Z",
                                        " 2026-11-21T11:40:29Z"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

}  // namespace
}  // namespace hostler

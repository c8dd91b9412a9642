#include "roles/agent/activity.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "roles/agent/jupyter.h"

namespace hostler::agent {
namespace {

using namespace std::chrono_literals;
using Bytes = Activity::Bytes;
using Counts = Activity::Counts;

struct ActivityTest : ::testing::Test {
    ActivityTest() { runs(1); }
    void runs(std::uint64_t generation) {
        activity.note(
            {.instance = "i-1", .generation = generation, .state = WorkloadState::running, .ready = true});
    }
    Activity::Use use() { return activity.of("i-1", 1).value(); }
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    Activity activity{timers};
};

TEST_F(ActivityTest, CountsFromTheStartOfEachRun) {
    timers.advance(60s);
    EXPECT_EQ(use(), (Activity::Use{60s, "start"}));
    EXPECT_EQ(activity.of("i-2", 1), std::nullopt);
    EXPECT_EQ(activity.of("i-1", 2), std::nullopt);
    runs(2);
    EXPECT_EQ(activity.of("i-1", 1), std::nullopt);
    EXPECT_EQ(activity.of("i-1", 2), (Activity::Use{0s, "start"}));
    activity.note({.instance = "i-1", .generation = 2, .state = WorkloadState::exited});
    EXPECT_EQ(activity.of("i-1", 2), std::nullopt);
}

TEST_F(ActivityTest, BytesCountWhenTheyGoThrough) {
    timers.advance(60s);
    Activity::User user{activity, "i-1", "connection", Counts::bytes, 8080};
    EXPECT_EQ(use().unused, 60s) << "a kept connection on which nothing goes is no use";
    user.moved(Bytes::in), user.moved(Bytes::out);
    EXPECT_EQ(use(), (Activity::Use{0s, "connection"}));
    timers.advance(30s);
    EXPECT_EQ(use().unused, 30s);
    user.moved(Bytes::in);
    timers.advance(3600s);
    EXPECT_EQ(use().unused, 0s) << "an answer is owed";
    user.moved(Bytes::out);
    EXPECT_EQ(use().unused, 0s);
    timers.advance(5s);
    EXPECT_EQ(use().unused, 5s);
}

TEST_F(ActivityTest, ATerminalIsUsedWhenSomethingMovesACommandAsLongAsItRuns) {
    {
        Activity::User terminal{activity, "i-1", "terminal", Counts::moving};
        terminal.moved(Bytes::in);
        timers.advance(10s);
        EXPECT_EQ(use(), (Activity::Use{0s, "terminal"})) << "seen at this look";
        timers.advance(10s);
        EXPECT_EQ(use().unused, 10s) << "nobody owes an answer on a terminal";
    }
    {
        Activity::User command{activity, "i-1", "command", Counts::always};
        timers.advance(3600s);
        EXPECT_EQ(use(), (Activity::Use{0s, "command"}));
    }
    timers.advance(10s);
    EXPECT_EQ(use(), (Activity::Use{10s, "command"}));
}

TEST_F(ActivityTest, ANotebookServerAnswersForItsPort) {
    Activity::User tab{activity, "i-1", "connection", Counts::bytes, 8888};
    Activity::User other{activity, "i-1", "connection", Counts::bytes, 8080};
    timers.advance(600s);
    activity.note_jupyter("i-1", 8888, 300s);
    EXPECT_EQ(use(), (Activity::Use{300s, "jupyter"}));
    tab.moved(Bytes::out);
    EXPECT_EQ(use().unused, 300s) << "a page that is left open asks again and again";
    activity.note_jupyter("i-1", 8888, 0s);
    EXPECT_EQ(use().unused, 0s);
    timers.advance(60s);
    other.moved(Bytes::out);
    EXPECT_EQ(use(), (Activity::Use{0s, "connection"})) << "other ports count as ever";
    timers.advance(60s);
    activity.note_jupyter("i-1", 8888, std::nullopt);
    tab.moved(Bytes::out);
    EXPECT_EQ(use(), (Activity::Use{0s, "connection"})) << "who cannot be asked is judged by its bytes";
}

TEST(Jupyter, IsUnusedSinceTheLastActivity) {
    const WallTime now = parse_rfc3339("2026-11-22T12:00:00Z").value();
    const auto of = [&](std::string_view kernels, std::string_view terminals) {
        return unused_in_jupyter(kernels, terminals, now);
    };
    EXPECT_EQ(of("[]", "[]"), Duration::max());
    EXPECT_EQ(of(R"([{"execution_state":"idle","last_activity":"2026-11-22T11:30:00.123456Z"},
                     {"execution_state":"idle","last_activity":"2026-11-22T11:50:00.000000Z"}])",
                 "[]"),
              600s);
    EXPECT_EQ(of(R"([{"execution_state":"busy","last_activity":"2026-11-22T01:00:00Z"}])", "[]"), 0s)
        << "a cell that runs for hours";
    EXPECT_EQ(of("[]", R"([{"name":"1","last_activity":"2026-11-22T11:59:00Z"}])"), 60s);
    EXPECT_EQ(of("[]", R"([{"name":"1","last_activity":"2027-11-22T11:59:00Z"}])"), 0s)
        << "its clock is ahead";
    for (const char* nonsense : {"", "{}", "[1]", R"([{"last_activity":7}])", R"([{}])", "[[[["})
        EXPECT_EQ(of(nonsense, "[]"), std::nullopt) << nonsense;
    EXPECT_EQ(of("[]", R"({"message":"Forbidden"})"), std::nullopt);
}

}  // namespace
}  // namespace hostler::agent

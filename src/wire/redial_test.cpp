#include "wire/redial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/log.h"
#include "core/signal.h"
#include "core/task_group.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler::wire {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class HalfRandom : public Random {
public:
    void fill(std::span<std::uint8_t> into) override { std::ranges::fill(into, std::uint8_t{0}); }
};

std::vector<std::string> lines;

// Pauses are half of what they may be: 50 ms, 100 ms, 200 ms, …
struct RedialTest : ::testing::Test {
    RedialTest() {
        lines.clear();
        set_log_sink([](Level, std::string_view line) { lines.emplace_back(line); });
        group.start("redial",
                    keep_linked(
                        timers, random, {"access", {"a", "b"}, 100ms, 400ms},
                        [this](std::string address) -> Task<> {
                            dialled.push_back(std::move(address));
                            if (points.contains(dialled.back())) leader = points.at(dialled.back());
                            if (!good) co_return fail(Code::unavailable, "refused");
                            linked = true;
                            co_return co_await lost.wait();
                        },
                        [this] { return Dialled{std::exchange(linked, false), std::exchange(leader, "")}; }));
        timers.settle();
    }
    ~RedialTest() override {
        group.cancel();
        timers.settle();
        set_log_sink(nullptr);
    }
    Loop loop;
    testing::ManualTimers timers{loop};
    HalfRandom random;
    Signal lost;
    std::vector<std::string> dialled;
    std::map<std::string, std::string> points;  // Masters that do not lead, and where they say one does.
    std::string leader;
    bool good = false;
    bool linked = false;
    TaskGroup group{loop};
};

TEST_F(RedialTest, TriesEachInTurnWithGrowingPauses) {
    EXPECT_THAT(dialled, ElementsAre("a"));
    timers.advance(50ms);
    EXPECT_THAT(dialled, ElementsAre("a", "b"));
    timers.advance(99ms);
    EXPECT_EQ(dialled.size(), 2U);
    timers.advance(1ms);
    EXPECT_THAT(dialled, ElementsAre("a", "b", "a"));
    timers.advance(200ms);
    timers.advance(200ms);
    EXPECT_EQ(dialled.size(), 5U) << "pauses have a longest";
    EXPECT_EQ(lines.size(), 1U) << "the same trouble is told once";
}

TEST_F(RedialTest, AfterALinkItBeginsAnew) {
    timers.advance(50ms);
    good = true;
    timers.advance(100ms);
    ASSERT_TRUE(linked);
    good = false;
    lost.notify_all();
    timers.settle();
    EXPECT_EQ(dialled.size(), 3U);
    timers.advance(50ms);
    EXPECT_EQ(dialled.size(), 4U);
    EXPECT_EQ(lines.size(), 3U) << "refused, goodbye, refused";
}

TEST_F(RedialTest, GoesAtOnceWhereAMasterPoints) {
    points["b"] = "c";
    timers.advance(50ms);
    EXPECT_THAT(dialled, ElementsAre("a", "b", "c"));
    timers.advance(100ms);
    EXPECT_THAT(dialled, ElementsAre("a", "b", "c", "a")) << "nobody there: on with the list";
    points["b"] = "a", points["a"] = "b";
    timers.advance(200ms);
    EXPECT_THAT(dialled, ElementsAre("a", "b", "c", "a", "b", "a", "b")) << "and not round for ever";
}

TEST_F(RedialTest, AfterALinkTheOthersComeFirst) {
    points["b"] = "a";
    good = true;
    timers.advance(50ms);
    ASSERT_TRUE(linked);
    points.clear();
    lost.notify_all();
    timers.settle();
    timers.advance(50ms);
    EXPECT_EQ(dialled.back(), "a");
}

TEST(Redial, NeedsAnAddress) {
    Loop loop;
    testing::ManualTimers timers{loop};
    HalfRandom random;
    const auto answer = testing::run(loop, keep_linked(timers, random, {}, {}, {}));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::invalid);
}

}  // namespace
}  // namespace hostler::wire

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"

namespace hostler::testing {
namespace {

TEST(MemoryStream, CarriesBytesBothWaysAndEnds) {
    Loop loop;
    auto [a, b] = memory_pair();
    char into[16];
    EXPECT_FALSE(b->try_read(into)->has_value());
    ASSERT_TRUE(run(loop, write_all(*a, "hello")));
    ASSERT_TRUE(run(loop, a->finish()));
    EXPECT_EQ(run(loop, read_some(*b, into)), 5U);
    EXPECT_EQ(std::string_view(into, 5), "hello");
    EXPECT_EQ(run(loop, read_some(*b, into)), 0U);
    ASSERT_TRUE(run(loop, write_all(*b, "back")));  // Half-closed: the other way still works.
    EXPECT_EQ(run(loop, read_some(*a, into)), 4U);
    b->close();
    EXPECT_FALSE(a->try_write({}).has_value());
}

TEST(MemoryStream, WriterWaitsForRoomAndIsWoken) {
    Loop loop;
    auto [a, b] = memory_pair(4);
    TaskGroup group{loop};
    bool written = false;
    group.start("write", [](Stream& to, bool& done) -> Task<> {
        CO_TRY(co_await write_all(to, "12345678"));
        done = true;
        co_return Result<>{};
    }(*a, written));
    loop.poll();
    EXPECT_FALSE(written);
    char into[8];
    ASSERT_TRUE(run(loop, read_exactly(*b, into)));
    EXPECT_TRUE(written);
    EXPECT_EQ(std::string_view(into, 8), "12345678");
}

TEST(MemoryStream, ClosingWakesItsOwnReader) {
    Loop loop;
    auto [a, b] = memory_pair();
    TaskGroup group{loop};
    std::optional<Code> code;
    group.start("read", [](Stream& from, std::optional<Code>& into) -> Task<> {
        const auto result = co_await from.readable();
        into = result ? std::nullopt : std::optional{result.error().code};
        co_return Result<>{};
    }(*a, code));
    loop.poll();
    a->close();
    loop.restart();
    loop.poll();
    EXPECT_EQ(code, Code::cancelled);
}

TEST(ManualTimers, SleepsInOrderAndOnlyWhenTold) {
    Loop loop;
    ManualTimers timers{loop};
    TaskGroup group{loop};
    std::string order;
    const auto sleeper = [](Timers& on, Duration time, std::string& into, char mark) -> Task<> {
        CO_TRY(co_await sleep(on, time));
        into += mark;
        co_return Result<>{};
    };
    group.start("b", sleeper(timers, std::chrono::seconds{2}, order, 'b'));
    group.start("a", sleeper(timers, std::chrono::seconds{1}, order, 'a'));
    timers.advance(std::chrono::milliseconds{999});
    EXPECT_EQ(order, "");
    timers.advance(std::chrono::milliseconds{1});
    EXPECT_EQ(order, "a");
    timers.advance(std::chrono::hours{1});
    EXPECT_EQ(order, "ab");
    EXPECT_EQ(timers.size(), 0U);
}

}  // namespace
}  // namespace hostler::testing

// Edges of readiness: each of these has hung or spun in some event loop.
#include "adapters/net/poller.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "adapters/net/net.h"
#include "adapters/net/socket.h"
#include "core/task_group.h"
#include "core/testing/real_timers.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;
using testing::run_real;

struct Pair {
    explicit Pair(Loop& loop) {
        int fds[2];
        HOSTLER_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
        here = std::make_unique<Socket>(loop, fds[0], "here");
        there = std::make_unique<Socket>(loop, fds[1], "there");
    }
    void close() {
        here->close();
        there->close();
    }
    std::unique_ptr<Socket> here, there;
};

class PollerTest : public ::testing::Test {
protected:
    // A wait that nothing ends is ended by closing the pair.
    Result<> readable(Pair& pair) {
        return run_real(loop_, [](PollerTest& test, Pair& pair) -> Task<> {
            const Deadline deadline{*test.timers_, 5s, [&] { pair.close(); }};
            co_return co_await pair.here->readable();
        }(*this, pair));
    }
    static void say(Pair& pair, std::string_view words) {
        const asio::const_buffer buffer{words.data(), words.size()};
        ASSERT_EQ(pair.there->try_write({&buffer, 1}).value(), words.size());
    }
    std::size_t hear(Pair& pair) {
        std::array<char, 64> into;
        const auto size = pair.here->try_read(into);
        return size && *size ? **size : 999;
    }

    Loop loop_;
    std::unique_ptr<Timers> timers_ = make_timers(loop_);
};

TEST_F(PollerTest, WhatCameBeforeTheFirstWaitIsTold) {
    Pair pair{loop_};
    say(pair, "early");
    EXPECT_TRUE(readable(pair));
    EXPECT_EQ(hear(pair), 5u);
}

TEST_F(PollerTest, EachPieceIsTold) {
    Pair pair{loop_};
    for (int i = 0; i < 3; ++i) {
        say(pair, "again");
        ASSERT_TRUE(readable(pair)) << i;
        EXPECT_EQ(hear(pair), 5u);
    }
}

TEST_F(PollerTest, AnEndTogetherWithTheLastBytesIsTold) {
    Pair pair{loop_};
    say(pair, "last");
    pair.there->close();
    ASSERT_TRUE(readable(pair));
    EXPECT_EQ(hear(pair), 4u);
    ASSERT_TRUE(readable(pair)) << "no edge comes after that";
    EXPECT_EQ(hear(pair), 0u);
}

TEST_F(PollerTest, AnEndWhileSomebodyWaitsIsTold) {
    Pair pair{loop_};
    TaskGroup tasks{loop_};
    tasks.start("leaving", [](Pair& pair, Timers& timers) -> Task<> {
        CO_TRY(co_await sleep(timers, 1ms));
        pair.there->close();
        co_return Result<>{};
    }(pair, *timers_));
    ASSERT_TRUE(readable(pair));
    EXPECT_EQ(hear(pair), 0u);
}

// A peer that has finished but reads no more: whoever writes has to sleep, not to spin.
TEST_F(PollerTest, AFullPeerThatHasFinishedCostsNothing) {
    Pair pair{loop_};
    ASSERT_TRUE(run_real(loop_, pair.there->finish()));
    ASSERT_TRUE(readable(pair));
    const std::string much(1 << 20, 'x');
    const asio::const_buffer buffer{much.data(), much.size()};
    while (*pair.here->try_write({&buffer, 1})) {
    }
    const auto spent = [] {
        rusage usage{};
        ::getrusage(RUSAGE_THREAD, &usage);
        return std::chrono::seconds{usage.ru_utime.tv_sec + usage.ru_stime.tv_sec} +
               std::chrono::microseconds{usage.ru_utime.tv_usec + usage.ru_stime.tv_usec};
    };
    const auto before = spent();
    const auto waited = run_real(loop_, [](Pair& pair, Timers& timers) -> Task<> {
        const Deadline deadline{timers, 200ms, [&] { pair.close(); }};
        co_return co_await pair.here->writable();
    }(pair, *timers_));
    ASSERT_FALSE(waited) << "there is no room";
    EXPECT_EQ(waited.error().code, Code::cancelled);
    EXPECT_LT(spent() - before, 100ms);
}

TEST_F(PollerTest, RoomIsToldAgain) {
    Pair pair{loop_};
    const std::string much(1 << 20, 'x');
    TaskGroup tasks{loop_};
    std::size_t got = 0;
    tasks.start("reading", [](Pair& pair, std::size_t& got, std::size_t wanted) -> Task<> {
        std::array<char, 4096> into;
        while (got < wanted) got += CO_TRY(co_await read_some(*pair.there, into));
        co_return Result<>{};
    }(pair, got, much.size()));
    const auto written = run_real(loop_, [](Pair& pair, Timers& timers, std::string_view much) -> Task<> {
        const Deadline deadline{timers, 5s, [&] { pair.close(); }};
        co_return co_await write_all(*pair.here, much);
    }(pair, *timers_, much));
    EXPECT_TRUE(written);
}

// More at once than one turn tells, and one of them closes another that is in the same turn.
TEST_F(PollerTest, ManyAtOnceAndSomeGoMeanwhile) {
    std::vector<std::unique_ptr<Pair>> pairs;
    for (int i = 0; i < 600; ++i) pairs.push_back(std::make_unique<Pair>(loop_));
    TaskGroup tasks{loop_};
    int woken = 0;
    int closed = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        tasks.start("one", [](auto& pairs, std::size_t i, int& woken, int& closed) -> Task<> {
            const auto told = co_await pairs[i]->here->readable();
            ++(told ? woken : closed);
            if (told && i % 3 == 0) pairs[(i + 300) % pairs.size()].reset();
            co_return Result<>{};
        }(pairs, i, woken, closed));
    }
    loop_.poll();
    for (auto& pair : pairs) say(*pair, "now");
    loop_.restart();
    loop_.run();  // It ends: nobody waits any more.
    EXPECT_EQ(woken + closed, 600);
    EXPECT_GT(closed, 0);
    // Their places are given to others, whose news is their own.
    Pair fresh{loop_};
    say(fresh, "fresh");
    EXPECT_TRUE(readable(fresh));
}

TEST_F(PollerTest, ALoopWhoseOnlyWaiterIsCancelledEnds) {
    Pair pair{loop_};
    TaskGroup tasks{loop_};
    tasks.start("waiting", [](Pair& pair) -> Task<> { co_return co_await pair.here->readable(); }(pair));
    loop_.poll();
    tasks.cancel();
    loop_.restart();
    loop_.run();
    say(pair, "later");
    EXPECT_TRUE(readable(pair)) << "a wait after a cancelled one";
}

}  // namespace
}  // namespace hostler::net

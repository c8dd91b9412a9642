// Real sockets on the loopback.
#include "adapters/net/net.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <list>

#include "adapters/net/socket.h"
#include "core/task_group.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;
using testing::run_real;

struct Ends {
    StreamPtr client;
    StreamPtr server;
};

class NetTest : public ::testing::Test {
protected:
    Task<Ends> join(std::string at) {
        const auto listener = CO_TRY(co_await net_->listen(std::move(at)));
        auto client = CO_TRY(co_await net_->dial(std::string{listener->address()}, 5s));
        auto server = CO_TRY(co_await listener->accept());
        co_return Ends{std::move(client), std::move(server)};
    }

    Ends join_at(const std::string& at) {
        auto ends = run_real(loop_, join(at));
        EXPECT_TRUE(ends.has_value()) << ends.error().message;
        return std::move(ends).value();
    }

    std::string folder() { return folders_.emplace_back().path(); }

    std::list<testing::TempFolder> folders_;
    Loop loop_;
    std::unique_ptr<Net> net_ = make_net(loop_);
    std::unique_ptr<Timers> timers_ = make_timers(loop_);
};

Task<std::string> echo(Stream& from, Stream& to, std::string text) {
    CO_TRY(co_await write_all(from, text));
    std::string got(text.size(), '\0');
    CO_TRY(co_await read_exactly(to, got));
    co_return got;
}

TEST_F(NetTest, JoinsByEveryKindOfAddress) {
    const std::string path = folder() + "/s.sock";
    for (const std::string& at : {std::string{"127.0.0.1:0"}, std::string{"localhost:0"}, "unix:" + path}) {
        const auto ends = join_at(at);
        EXPECT_EQ(run_real(loop_, echo(*ends.client, *ends.server, "there")).value(), "there") << at;
        EXPECT_EQ(run_real(loop_, echo(*ends.server, *ends.client, "back")).value(), "back") << at;
        EXPECT_EQ(ends.server->identity(), "");
    }
    EXPECT_FALSE(std::filesystem::exists(path)) << "a closed listener leaves its socket behind";
}

TEST_F(NetTest, RefusesWhatIsNoAddress) {
    for (const std::string at :
         {"", "host", "host:", ":80", "host:70000", "host:8x", "[::1:80", "::1:80", "unix:"}) {
        const auto dialled = run_real(loop_, net_->dial(at, 1s));
        ASSERT_FALSE(dialled) << at;
        EXPECT_EQ(dialled.error().code, Code::invalid) << at;
    }
    EXPECT_EQ(run_real(loop_, net_->listen("unix:" + std::string(200, 'x'))).error().code, Code::invalid);
}

TEST_F(NetTest, ReplacesOnlyASocketFileThatNobodyServes) {
    const std::string path = folder() + "/s.sock";
    auto first = run_real(loop_, net_->listen("unix:" + path)).value();
    EXPECT_EQ(run_real(loop_, net_->listen("unix:" + path)).error().code, Code::unavailable);
    EXPECT_TRUE(run_real(loop_, net_->dial("unix:" + path, 1s)).has_value())
        << "the first one has lost its file";
    std::filesystem::rename(path, path + ".kept");
    first->close();
    std::filesystem::rename(path + ".kept", path);
    EXPECT_TRUE(run_real(loop_, net_->listen("unix:" + path)).has_value());
}

TEST_F(NetTest, SaysThatAnAddressIsInUse) {
    const auto first = run_real(loop_, net_->listen("127.0.0.1:0")).value();
    const auto second = run_real(loop_, net_->listen(std::string{first->address()}));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::unavailable);
    EXPECT_EQ(second.error().reason, "address_in_use");
}

TEST_F(NetTest, SaysWhoRefused) {
    auto listener = run_real(loop_, net_->listen("127.0.0.1:0")).value();
    const std::string address{listener->address()};
    listener->close();
    const auto dialled = run_real(loop_, net_->dial(address, 5s));
    ASSERT_FALSE(dialled);
    EXPECT_EQ(dialled.error().code, Code::unavailable);
    EXPECT_EQ(dialled.error().message, "dialling " + address + ": Connection refused");
}

// Linux drops the SYN when the queue of a listener is full: the dialler hears nothing.
TEST_F(NetTest, GivesUpDiallingAtItsDeadline) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_storage at{};
    at.ss_family = AF_INET;
    socklen_t size = 16;
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(::listen(fd, 0), 0);
    ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
    const auto* port = reinterpret_cast<const unsigned char*>(&at) + 2;
    const std::string address = fmt::format("127.0.0.1:{}", port[0] * 256 + port[1]);
    std::vector<StreamPtr> queued;
    Result<StreamPtr> last = StreamPtr{};
    for (int i = 0; i < 8 && last; ++i) {
        last = run_real(loop_, net_->dial(address, 50ms));
        if (last) queued.push_back(std::move(*last));
    }
    ASSERT_FALSE(last);
    EXPECT_EQ(last.error().code, Code::timeout);
    ::close(fd);
}

// An access point that dies without a word takes no pooled tunnel with it for longer than this.
TEST_F(NetTest, WhatIsDialledGivesUpSoonOnAPeerThatIsSilentlyGone) {
    const auto ends = join_at("127.0.0.1:0");
    const auto option = [&](int which) {
        int value = 0;
        socklen_t size = sizeof value;
        ::getsockopt(static_cast<Socket&>(*ends.client).fd(), IPPROTO_TCP, which, &value, &size);
        return value;
    };
    EXPECT_EQ(option(TCP_USER_TIMEOUT), 10'000);
    EXPECT_EQ(option(TCP_KEEPIDLE), 15);
}

TEST_F(NetTest, FinishEndsOneDirection) {
    const auto ends = join_at("127.0.0.1:0");
    ASSERT_TRUE(run_real(loop_, ends.client->finish()));
    std::array<char, 8> into{};
    EXPECT_EQ(run_real(loop_, read_some(*ends.server, into)).value(), 0u);
    EXPECT_EQ(run_real(loop_, echo(*ends.server, *ends.client, "still")).value(), "still");
}

TEST_F(NetTest, GathersBuffersAndSurvivesAFullSocket) {
    const auto ends = join_at("127.0.0.1:0");
    const std::array<asio::const_buffer, 4> parts{asio::buffer("ab", 2), asio::buffer("", 0),
                                                  asio::buffer("cd", 2), asio::buffer("e", 1)};
    EXPECT_EQ(ends.client->try_write(parts).value(), 5u);
    std::string got(5, '\0');
    ASSERT_TRUE(run_real(loop_, read_exactly(*ends.server, got)));
    EXPECT_EQ(got, "abcde");

    const std::string much(4 << 20, 'x');
    std::size_t sent = 0;
    const asio::const_buffer block = asio::buffer(much);
    while (const auto taken = ends.client->try_write({&block, 1}).value()) sent += *taken;
    EXPECT_FALSE(testing::run_real(loop_,
                                   [](Stream& out, Timers& timers) -> Task<bool> {
                                       bool woke = true;
                                       Deadline limit{timers, 20ms, [&] { woke = false, out.close(); }};
                                       (void)co_await out.writable();
                                       co_return woke;
                                   }(*ends.client, *timers_))
                     .value())
        << "a full socket was called writable";
    EXPECT_GT(sent, 0u);
}

TEST_F(NetTest, APeerThatHasGoneIsAnErrorAndNoSignal) {
    auto ends = join_at("127.0.0.1:0");
    ends.server.reset();
    Result<> written{};
    for (int i = 0; i < 100 && written; ++i) written = run_real(loop_, write_all(*ends.client, "anyone?"));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::unavailable);
}

// Whoever waits for a stream or a listener wakes when it is closed, when it is destroyed, and when the task
// is cancelled.
TEST_F(NetTest, EveryWaitCanBeEnded) {
    auto closed = join_at("127.0.0.1:0");
    auto destroyed = join_at("127.0.0.1:0");
    const auto cancelled = join_at("127.0.0.1:0");
    auto listener = run_real(loop_, net_->listen("127.0.0.1:0")).value();
    std::vector<std::string> woken;
    const auto note = [](std::vector<std::string>& to, std::string who, Task<> wait) -> Task<> {
        const auto result = co_await std::move(wait);
        to.push_back(who + ": " + std::string{result ? "woke" : name(result.error().code)});
        co_return Result<>{};
    };
    const auto accept = [](Listener& at) -> Task<> {
        CO_TRY(co_await at.accept());
        co_return Result<>{};
    };
    const auto turn = [&] {
        loop_.restart();
        loop_.poll();
    };
    TaskGroup group{loop_};
    group.start("", note(woken, "closed", closed.client->readable()));
    group.start("", note(woken, "destroyed", destroyed.client->readable()));
    group.start("", note(woken, "listener", accept(*listener)));
    group.start("", note(woken, "cancelled", cancelled.client->readable()));
    turn();
    EXPECT_TRUE(woken.empty());
    closed.client->close();
    turn();
    destroyed.client.reset();
    turn();
    listener.reset();
    turn();
    EXPECT_TRUE(run_real(loop_, group.close()));
    const std::vector<std::string> expected = {"closed: cancelled", "destroyed: cancelled",
                                               "listener: cancelled", "cancelled: cancelled"};
    EXPECT_EQ(woken, expected);
    EXPECT_EQ(run_real(loop_, closed.client->readable()).error().code, Code::cancelled);
    EXPECT_EQ(run_real(loop_, echo(*cancelled.server, *cancelled.client, "unharmed")).value(), "unharmed");
}

TEST(Timers, WakeInOrderAndNotAfterCancel) {
    Loop loop;
    const auto timers = make_timers(loop);
    std::vector<int> woken;
    const Instant start = timers->now();
    std::vector<TimerId> ids;
    // 7 is prime to 200: the times come in a scattered order.
    for (int i = 0; i < 200; ++i) {
        const int at = i * 7 % 200;
        ids.push_back(
            timers->schedule(start + std::chrono::microseconds{at * 20}, [&, at] { woken.push_back(at); }));
    }
    for (int i = 0; i < 200; i += 3) timers->cancel(ids[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(woken.empty());
    loop.run();
    EXPECT_TRUE(std::ranges::is_sorted(woken));
    EXPECT_EQ(woken.size(), 133u);
    for (const auto id : ids) timers->cancel(id);  // All of them old.
    timers->schedule(start, [&] { woken.clear(); });
    for (const auto id : ids) timers->cancel(id);  // An old id does not hit what took its place.
    loop.restart();
    loop.run();
    EXPECT_TRUE(woken.empty());
}

TEST(Timers, AWakeUpMayScheduleAndCancel) {
    Loop loop;
    const auto timers = make_timers(loop);
    int turns = 0;
    TimerId victim = 0;
    std::function<void()> again = [&] {
        timers->cancel(victim);
        if (++turns < 5) timers->schedule(timers->now() - 1s, [&] { again(); });
    };
    timers->schedule(timers->now(), [&] { again(); });
    victim = timers->schedule(timers->now(), [&] { ADD_FAILURE() << "cancelled, and yet it came"; });
    loop.run();
    EXPECT_EQ(turns, 5);
}

TEST(Timers, ALoopWithoutWakeUpsEnds) {
    Loop loop;
    const auto timers = make_timers(loop);
    timers->cancel(timers->schedule(timers->now() + 1h, [] {}));
    loop.run();  // Would hang for an hour.
    SUCCEED();
}

TEST(Random, IsNotTheSameTwice) {
    const auto random = make_random();
    EXPECT_NE(random_number(*random), random_number(*random));
    std::array<std::uint8_t, 1000> bytes{};
    random->fill(bytes);
    EXPECT_GT(std::set<int>(bytes.begin(), bytes.end()).size(), 100u);
}

}  // namespace
}  // namespace hostler::net

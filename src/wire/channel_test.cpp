#include "wire/channel.h"

#include <gtest/gtest.h>

#include "core/signal.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "wire/link.h"

namespace hostler::wire {
namespace {

using namespace std::chrono_literals;
using testing::try_run;

// Two channels whose pieces come to each other, while `open`.
struct Both : ::testing::Test {
    Channel::Carry to(std::unique_ptr<Channel>& other, std::size_t& pieces) {
        return [this, &other, &pieces](std::string piece) { return carry(other, pieces, std::move(piece)); };
    }
    Task<> carry(std::unique_ptr<Channel>& other, std::size_t& pieces, std::string piece) {
        while (!open) CO_TRY(co_await opened.wait());
        ++pieces;
        largest = std::max(largest, piece.size());
        co_return other->feed(std::move(piece));
    }
    void let_pass(bool yes) {
        open = yes;
        opened.notify_all();
        timers.settle();
    }
    std::string read(Stream& stream, std::size_t size) {
        timers.settle();
        std::string bytes(size, '\0');
        const auto got = stream.try_read(bytes);
        bytes.resize(got && *got ? **got : 0);
        return bytes;
    }

    Loop loop;
    testing::ManualTimers timers{loop};
    bool open = true;
    Signal opened;
    std::size_t there = 0, back = 0, largest = 0;
    static constexpr ChannelLimits limits{
        .piece_max = 10, .sending_bytes_max = 100, .received_bytes_max = 500, .received_bytes_calm = 50};
    std::unique_ptr<Channel> a = std::make_unique<Channel>(loop, "b", to(b, there), limits);
    std::unique_ptr<Channel> b = std::make_unique<Channel>(loop, "a", to(a, back), limits);
    StreamPtr at_a = a->stream(), at_b = b->stream();
};

TEST_F(Both, BytesComeInOrderInPiecesThatAreSmallEnough) {
    std::string said;
    for (int i = 0; i < 25; ++i) said += static_cast<char>('a' + i);
    ASSERT_TRUE(try_run(loop, write_all(*at_a, said)));
    EXPECT_EQ(read(*at_b, 4), "abcd");
    EXPECT_EQ(read(*at_b, 100), said.substr(4));
    EXPECT_EQ(there, 3U);
    EXPECT_EQ(largest, 10U);
    ASSERT_TRUE(try_run(loop, write_all(*at_b, "back")));
    EXPECT_EQ(read(*at_a, 100), "back");
    EXPECT_EQ(read(*at_a, 100), "");
}

TEST_F(Both, AWriterWaitsWhileTheWayIsBlocked) {
    let_pass(false);
    std::string much(300, 'x');
    std::optional<Result<>> written;
    TaskGroup tasks{loop};
    tasks.start("writer", [](Stream& into, std::string bytes, std::optional<Result<>>& done) -> Task<> {
        done = co_await write_all(into, bytes);
        co_return Result<>{};
    }(*at_a, much, written));
    timers.settle();
    EXPECT_FALSE(written);
    let_pass(true);
    ASSERT_TRUE(written && *written);
    EXPECT_EQ(read(*at_b, 1000), much);
}

TEST_F(Both, WhatNobodyReadsHasABound) {
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(b->feed(std::string(50, 'x')));
    const auto calm = try_run(loop, b->calm());
    EXPECT_FALSE(calm) << "whoever feeds it is to wait";
    EXPECT_EQ(b->feed("y").error().code, Code::exhausted);
    EXPECT_TRUE(b->ended());
    EXPECT_EQ(read(*at_b, 1000).size(), 500U) << "what came before can still be read";
    std::array<char, 8> at_last{};
    EXPECT_EQ(at_b->try_read(at_last).error().code, Code::exhausted);
}

TEST_F(Both, WhoFeedsItGoesOnWhenItIsCalm) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(b->feed(std::string(50, 'x')));
    bool calm = false;
    TaskGroup tasks{loop};
    tasks.start("feeder", [](Channel& channel, bool& done) -> Task<> {
        CO_TRY(co_await channel.calm());
        done = true;
        co_return Result<>{};
    }(*b, calm));
    EXPECT_EQ(read(*at_b, 60).size(), 60U);
    timers.settle();
    EXPECT_FALSE(calm);
    EXPECT_EQ(read(*at_b, 60).size(), 60U);
    timers.settle();
    EXPECT_TRUE(calm);
}

TEST_F(Both, ItsEndWakesWhoReadsAndWhoWrites) {
    let_pass(false);
    std::vector<Error> errors;
    TaskGroup tasks{loop};
    const auto note = [](Task<> waits, std::vector<Error>& into) -> Task<> {
        const auto ended = co_await std::move(waits);
        if (!ended) into.push_back(ended.error());
        co_return Result<>{};
    };
    const std::string much(300, 'x');
    tasks.start("writer", note(write_all(*at_a, much), errors));
    tasks.start("reader", note(
                              [](Stream& from) -> Task<> {
                                  char into[1];
                                  CO_TRY(co_await read_some(from, into));
                                  co_return Result<>{};
                              }(*at_a),
                              errors));
    timers.settle();
    EXPECT_TRUE(errors.empty());
    a->end({Code::unavailable, "another master leads"});
    timers.settle();
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].message, "another master leads");
    EXPECT_EQ(errors[1].message, "another master leads");
    EXPECT_FALSE(a->feed("late"));
}

TEST_F(Both, TheStreamMayOutliveItAndClosingTheStreamEndsIt) {
    at_b->close();
    EXPECT_TRUE(b->ended());
    a.reset();
    EXPECT_FALSE(at_a->try_write({}));
    std::array<char, 4> into{};
    EXPECT_FALSE(at_a->try_read(into));
}

TEST_F(Both, ALinkRunsOverIt) {
    Link first{loop, timers, std::move(at_a)};
    Link second{loop, timers, std::move(at_b)};
    uplink::Frame frame;
    frame.mutable_command()->set_id(std::string(400, 'c'));
    ASSERT_TRUE(first.try_send(frame));
    timers.settle();
    const auto heard = try_run(loop, second.receive());
    ASSERT_TRUE(heard && *heard);
    EXPECT_EQ((*heard)->command().id(), frame.command().id());
    first.close();
    EXPECT_TRUE(a->ended());
}

}  // namespace
}  // namespace hostler::wire

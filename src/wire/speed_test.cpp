#include "wire/speed.h"

#include <gtest/gtest.h>

#include "core/task_group.h"
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"

namespace hostler::wire {
namespace {

using namespace std::chrono_literals;

class CountedDice final : public Random {
public:
    void fill(std::span<std::uint8_t> into) override {
        for (std::uint8_t& byte : into) byte = static_cast<std::uint8_t>(next_ = next_ * 1103515245 + 12345);
    }

private:
    std::uint32_t next_ = 1;
};

// A way that bears so many bytes a millisecond.
class SlowWay final : public Stream {
public:
    SlowWay(StreamPtr on, Timers& timers, std::size_t down_per_ms, std::size_t up_per_ms)
        : inner_(std::move(on)), timers_(timers), down_{down_per_ms}, up_{up_per_ms} {}
    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        const std::size_t room = std::min(into.size(), up_.left(timers_.now()));
        if (room == 0) return std::nullopt;
        auto got = inner_->try_read(into.first(room));
        if (got && *got) up_.budget -= **got;
        return got;
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        const asio::const_buffer first = asio::buffer(from.front(), down_.left(timers_.now()));
        if (first.size() == 0) return std::nullopt;
        auto took = inner_->try_write({&first, 1});
        if (took && *took) down_.budget -= **took;
        return took;
    }
    Task<> readable() override {
        if (up_.left(timers_.now()) == 0) CO_TRY(co_await sleep(timers_, 1ms));
        co_return co_await inner_->readable();
    }
    Task<> writable() override {
        if (down_.left(timers_.now()) == 0) CO_TRY(co_await sleep(timers_, 1ms));
        co_return co_await inner_->writable();
    }
    Task<> finish() override { return inner_->finish(); }
    void close() override { inner_->close(); }
    std::string_view address() const override { return "slow"; }

private:
    struct Pace {
        std::size_t per_ms = 0;
        std::size_t budget = per_ms;
        Instant filled{};
        std::size_t left(Instant now) {
            if (now - filled >= 1ms) {
                budget = per_ms;
                filled = now;
            }
            return budget;
        }
    };
    StreamPtr inner_;
    Timers& timers_;
    Pace down_, up_;
};

class SpeedTest : public ::testing::Test {
protected:
    SpeedTest() {
        auto [ours, theirs] = testing::memory_pair(1 << 20);
        asker_ = std::move(ours);
        answerer_ = std::move(theirs);
    }
    void answer(AnswerLimits limits = {}) {
        tasks_.start("answer", [](SpeedTest& in, AnswerLimits with) -> Task<> {
            in.answered_ = co_await answer_speed(*in.answerer_, in.dice_, with);
            in.answerer_->close();
            co_return Result<>{};
        }(*this, limits));
    }
    std::optional<Result<Speed>> measure(SpeedLimits limits) {
        std::optional<Result<Speed>> measured;
        tasks_.start("measure",
                     [](SpeedTest& in, SpeedLimits with, std::optional<Result<Speed>>& into) -> Task<> {
                         into = co_await measure_speed(*in.asker_, in.timers_, in.dice_, with);
                         (void)co_await in.asker_->finish();
                         co_return Result<>{};
                     }(*this, limits, measured));
        for (int i = 0; i < 20'000 && !measured; ++i) timers_.advance(1ms);
        timers_.settle();
        return measured;
    }
    Loop loop_;
    testing::ManualTimers timers_{loop_};
    CountedDice dice_;
    StreamPtr asker_, answerer_;
    std::optional<Result<>> answered_;
    TaskGroup tasks_{loop_};
};

TEST_F(SpeedTest, EachWayIsAsFastAsItsPiecesCome) {
    asker_ = std::make_unique<SlowWay>(std::move(asker_), timers_, 4096, 1024);
    answer();
    const auto measured = measure({.first_bytes = 4096, .bytes_max = 1 << 20, .enough = 100ms});
    ASSERT_TRUE(measured && *measured) << (measured ? measured->error().message : "it does not end");
    const Speed& speed = **measured;
    EXPECT_LE(speed.round_trip, 2ms);
    EXPECT_NEAR(static_cast<double>(speed.down_kbit_s), 32'768, 3000) << "4 KiB a millisecond";
    EXPECT_NEAR(static_cast<double>(speed.up_kbit_s), 8'192, 800) << "1 KiB a millisecond";
    EXPECT_LT(speed.bytes, 2u * (1 << 20) * 4 / 3 + 1024);
    ASSERT_TRUE(answered_);
    EXPECT_TRUE(*answered_) << "it has finished";
}

TEST_F(SpeedTest, PiecesGrowNoLargerThanIsNeeded) {
    asker_ = std::make_unique<SlowWay>(std::move(asker_), timers_, 64, 64);
    answer();
    const auto measured = measure({.first_bytes = 1024, .bytes_max = 16 << 20, .enough = 10ms});
    ASSERT_TRUE(measured && *measured);
    EXPECT_LT((*measured)->bytes, 2'000'000u);
}

TEST_F(SpeedTest, WhoConfirmsWhatItHasNotReceivedIsFound) {
    ASSERT_TRUE(asker_);
    tasks_.start("early", [](Stream& stream) -> Task<> {
        co_return co_await write_all(stream, std::string(64, 'x'));
    }(*answerer_));
    const auto measured = measure({.first_bytes = 1024, .bytes_max = 1024});
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->error().code, Code::invalid);
}

TEST_F(SpeedTest, AnAskerGetsNoMoreThanIsBearable) {
    answer({.piece_max = 4096, .bytes_max = 1 << 20});
    ASSERT_TRUE(measure({.first_bytes = 1024, .bytes_max = 64 * 1024, .enough = 1h}));
    ASSERT_TRUE(answered_);
    EXPECT_EQ(answered_->error().code, Code::exhausted);
}

TEST_F(SpeedTest, AllPiecesTogetherAreBoundToo) {
    answer({.piece_max = 4096, .bytes_max = 4096});
    ASSERT_TRUE(measure({.first_bytes = 1024, .bytes_max = 4096, .enough = 1h}));
    ASSERT_TRUE(answered_);
    EXPECT_EQ(answered_->error().code, Code::exhausted);
}

TEST_F(SpeedTest, WhatIsNoRequestEndsIt) {
    for (const std::string said : {"take\n", "take x\n", "take 15\n", "get 64\n", "give 64 \n"}) {
        auto [ours, theirs] = testing::memory_pair(1 << 20);
        asker_ = std::move(ours), answerer_ = std::move(theirs);
        answered_.reset();
        answer();
        tasks_.start("say", [](Stream& stream, std::string what) -> Task<> {
            co_return co_await write_all(stream, what);
        }(*asker_, said));
        timers_.settle();
        ASSERT_TRUE(answered_) << said;
        EXPECT_EQ(answered_->error().code, Code::invalid) << said;
    }
}

}  // namespace
}  // namespace hostler::wire

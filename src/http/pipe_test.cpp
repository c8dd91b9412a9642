#include "http/pipe.h"

#include "http/served_test.h"

namespace hostler::http {
namespace {

struct HttpPipe : ::testing::Test {
    HttpPipe() {
        std::tie(left, a) = testing::memory_pair(100);
        std::tie(right, b) = testing::memory_pair(100);
        group.start("pipe", [](HttpPipe& me) -> Task<> {
            me.piped.emplace(co_await pipe(*me.a, *me.b, me.timers, 10s));
            co_return Result<>{};
        }(*this));
        timers.settle();
    }
    ~HttpPipe() override {
        group.cancel();
        timers.settle();
    }
    Loop loop;
    ManualTimers timers{loop};
    std::unique_ptr<MemoryStream> left, right, a, b;
    std::optional<Result<Piped>> piped;
    TaskGroup group{loop};
};

TEST_F(HttpPipe, GoesOnOneWayWhenTheOtherHasEnded) {
    sent(timers, *left, "ask");
    ASSERT_TRUE(testing::run(loop, left->finish()));
    bool ended = false;
    EXPECT_EQ(drained(timers, *right, &ended), "ask");
    EXPECT_TRUE(ended);
    sent(timers, *right, "answer");
    EXPECT_EQ(drained(timers, *left), "answer");
    EXPECT_FALSE(piped);
    ASSERT_TRUE(testing::run(loop, right->finish()));
    timers.settle();
    ASSERT_TRUE(piped && *piped);
    EXPECT_EQ((*piped)->forth, 3U);
    EXPECT_EQ((*piped)->back, 6U);
    EXPECT_TRUE(a->closed() && b->closed());
}

TEST_F(HttpPipe, EndsWhenOneSideBreaks) {
    sent(timers, *left, std::string(100, 'a'));
    right->close();
    sent(timers, *left, "more");
    timers.settle();
    ASSERT_TRUE(piped);
    EXPECT_TRUE(a->closed() && b->closed());
}

TEST_F(HttpPipe, EndsWhenNothingMoves) {
    timers.advance(9s);
    sent(timers, *right, "a");
    timers.advance(9s);
    EXPECT_FALSE(piped);
    timers.advance(2s);
    ASSERT_TRUE(piped && *piped);
    EXPECT_TRUE((*piped)->idle);
}

TEST_F(HttpPipe, LosesNothingBeforeASlowReader) {
    const std::string text = [] {
        std::string all;
        for (int count = 0; count < 1000; ++count) all += std::to_string(count);
        return all;
    }();
    std::string heard;
    for (std::string_view rest = text; !rest.empty();) {
        const asio::const_buffer buffer{rest.data(), rest.size()};
        rest.remove_prefix(left->try_write({&buffer, 1})->value_or(0));
        timers.settle();
        char into[7];
        if (const auto size = right->try_read(into); size && *size) heard.append(into, **size);
    }
    heard += drained(timers, *right);
    EXPECT_EQ(heard, text);
}

}  // namespace
}  // namespace hostler::http

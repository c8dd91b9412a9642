#include "roles/access/tickets.h"

#include <gtest/gtest.h>

namespace hostler::access {
namespace {

using std::chrono::seconds;

class Counting : public Random {
public:
    void fill(std::span<std::uint8_t> into) override {
        for (auto& byte : into) {
            state_ = state_ * 1664525 + 1013904223;
            byte = static_cast<std::uint8_t>(state_ >> 16);
        }
    }

private:
    std::uint32_t state_ = 7;
};

constexpr Instant start{seconds{1000}};

class TicketsTest : public testing::Test {
protected:
    Counting random_;
    Tickets tickets_{{.pending_max = 4, .pending_per_host_max = 2, .life = seconds{10}}};
};

TEST_F(TicketsTest, EachEndOnceAndBothForTheSameTunnelAndHost) {
    const auto pair = tickets_.mint("h-a", random_, start);
    ASSERT_TRUE(pair);
    EXPECT_NE(pair->gateway, pair->agent);
    const auto agent = tickets_.take(pair->agent, start + seconds{1});
    ASSERT_TRUE(agent);
    EXPECT_EQ(agent->end, End::agent);
    EXPECT_EQ(agent->host, "h-a");
    EXPECT_EQ(agent->expires, start + seconds{10});
    EXPECT_FALSE(tickets_.take(pair->agent, start + seconds{1})) << "used before";
    const auto gateway = tickets_.take(pair->gateway, start + seconds{2});
    ASSERT_TRUE(gateway);
    EXPECT_EQ(gateway->end, End::gateway);
    EXPECT_EQ(gateway->tunnel, agent->tunnel);
    EXPECT_EQ(tickets_.size(), 0U);
}

TEST_F(TicketsTest, TooLateIsUnknown) {
    const auto pair = tickets_.mint("h-a", random_, start);
    ASSERT_TRUE(pair);
    EXPECT_FALSE(tickets_.take(pair->gateway, start + seconds{10}));
    EXPECT_FALSE(tickets_.take("ta_nobody", start));
    EXPECT_EQ(tickets_.size(), 0U);
}

TEST_F(TicketsTest, BoundsHoldPerHostAndInAllAndAreGivenBack) {
    const auto first = tickets_.mint("h-a", random_, start);
    ASSERT_TRUE(first && tickets_.mint("h-a", random_, start));
    EXPECT_EQ(tickets_.mint("h-a", random_, start).error().code, Code::exhausted);
    ASSERT_TRUE(tickets_.mint("h-b", random_, start) && tickets_.mint("h-c", random_, start));
    EXPECT_EQ(tickets_.mint("h-d", random_, start).error().code, Code::exhausted);
    tickets_.take(first->gateway, start);
    EXPECT_FALSE(tickets_.mint("h-d", random_, start)) << "half-used still counts";
    tickets_.take(first->agent, start);
    EXPECT_TRUE(tickets_.mint("h-d", random_, start));
    EXPECT_TRUE(tickets_.mint("h-a", random_, start + seconds{10})) << "all older ones have expired";
    EXPECT_EQ(tickets_.size(), 1U);
}

TEST_F(TicketsTest, ForgettingAHostLeavesTheOthers) {
    const auto a = tickets_.mint("h-a", random_, start);
    const auto b = tickets_.mint("h-b", random_, start);
    ASSERT_TRUE(a && b);
    tickets_.forget_host("h-a");
    EXPECT_FALSE(tickets_.take(a->agent, start));
    EXPECT_FALSE(tickets_.take(a->gateway, start));
    EXPECT_TRUE(tickets_.take(b->agent, start));
}

TEST(TunnelLine, OnlyTheExactForm) {
    EXPECT_EQ(ticket_of("HOSTLER-TUNNEL/1 ta_ab-9"), "ta_ab-9");
    for (const auto* line :
         {"", "HOSTLER-TUNNEL/1", "HOSTLER-TUNNEL/1 ", "HOSTLER-TUNNEL/2 ta_a", "GET / HTTP/1.1",
          "HOSTLER-TUNNEL/1 ta a", "HOSTLER-TUNNEL/1 ta_a\r", "hostler-tunnel/1 ta_a"})
        EXPECT_FALSE(ticket_of(line)) << line;
}

}  // namespace
}  // namespace hostler::access

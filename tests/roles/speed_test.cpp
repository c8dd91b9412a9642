// How fast the way to a host is, measured by the shipped access point: by nobody but who it told to come, by
// no more than it asked for.
#include "wire/speed.h"

#include "rig.h"

namespace hostler::rig {
namespace {

class SpeedTest : public ::testing::Test {
protected:
    // What the master is told, once it asks.
    void ask(const std::string& host = "h-1") {
        answer_.reset();
        tasks_.start("master", [](SpeedTest& in, std::string of) -> Task<> {
            in.answer_ = co_await in.cloud_.master.measure(of);
            co_return Result<>{};
        }(*this, host));
    }
    bool answered() {
        return cloud_.eventually([&] { return answer_.has_value(); });
    }
    // The order that the host was given last.
    uplink::SpeedOrder order(const Agent& host) {
        uplink::SpeedOrder given;
        EXPECT_TRUE(cloud_.eventually([&] {
            for (const auto& frame : host.received)
                if (frame.has_speed_order()) given = frame.speed_order();
            return !given.ticket().empty() && given.ticket() != last_;
        }));
        last_ = given.ticket();
        return given;
    }
    StreamPtr come(const uplink::SpeedOrder& order, const std::string& more = "") {
        auto stream = cloud_.go(cloud_.net->dial(order.tunnel_address(), 5s)).value();
        EXPECT_TRUE(cloud_.go(write_all(*stream, "HOSTLER-SPEED/1 " + order.ticket() + more + "\n")));
        return stream;
    }
    void answer(Stream& stream) { tasks_.start("host", wire::answer_speed(stream, *cloud_.random)); }

    Cloud cloud_{[](access::Settings& settings, auto&) {
        settings.ticket_s = 1;
        settings.speed_s = 2;
        settings.speed_bytes_max = 1 << 20;
    }};
    Agent host_{cloud_, "h-1", cloud_.access->addresses().uplink};
    bool here_ = cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; });
    std::optional<Result<uplink::Frame>> answer_;
    std::string last_;
    TaskGroup tasks_{cloud_.loop};
};

TEST_F(SpeedTest, TheMasterIsToldHowFastTheWayIs) {
    ASSERT_TRUE(here_);
    ask();
    const auto given = order(host_);
    EXPECT_EQ(given.tunnel_address(), cloud_.access->addresses().tunnel);
    EXPECT_EQ(given.busy_kbit_s(), 8'000u);
    const auto stream = come(given);
    answer(*stream);
    ASSERT_TRUE(answered());
    ASSERT_TRUE(*answer_) << answer_->error().message;
    const auto& speed = (*answer_)->speed_answer();
    EXPECT_GT(speed.down_kbit_s(), 10'000u);
    EXPECT_GT(speed.up_kbit_s(), 10'000u);
    EXPECT_GT(speed.round_trip_us(), 0u);
    EXPECT_LT(speed.round_trip_us(), 1'000'000u);
    EXPECT_EQ(cloud_.access->counters().speeds_measured, 1u);
    EXPECT_EQ(cloud_.access->counters().tunnels.refused, 0u);
}

TEST_F(SpeedTest, AHostWhoseLinkIsInUseIsLeftAlone) {
    ask();
    (void)come(order(host_), " busy");
    ASSERT_TRUE(answered());
    EXPECT_EQ(answer_->error().reason, "link_busy");
}

TEST_F(SpeedTest, OneThatDoesNotComeOrDawdlesIsNotWaitedForForEver) {
    ask();
    const auto late = order(host_);
    ASSERT_TRUE(answered());
    EXPECT_EQ(answer_->error().code, Code::timeout);
    ask();
    const auto silent = come(order(host_));
    ASSERT_TRUE(answered());
    EXPECT_EQ(answer_->error().code, Code::timeout);
    // The first ticket is good for nothing any more.
    const auto again = come(late);
    char byte = 0;
    const auto end = cloud_.go(read_some(*again, {&byte, 1}));
    EXPECT_TRUE(!end || *end == 0);
    EXPECT_EQ(cloud_.access->counters().tunnels.refused, 1u);
}

TEST_F(SpeedTest, ATicketIsForOneConnection) {
    ask();
    const auto given = order(host_);
    const auto first = come(given), second = come(given);
    char byte = 0;
    const auto end = cloud_.go(read_some(*second, {&byte, 1}));
    EXPECT_TRUE(!end || *end == 0);
    answer(*first);
    ASSERT_TRUE(answered());
    EXPECT_TRUE(*answer_);
}

TEST_F(SpeedTest, WhoFloodsIsReadNoFurtherThanWasAskedFor) {
    ask();
    const auto stream = come(order(host_));
    std::string asked(8, '\0');
    ASSERT_TRUE(cloud_.go(read_exactly(*stream, asked)));
    std::uint64_t sent = 0;
    tasks_.start("flood", [](Stream& to, std::uint64_t& count) -> Task<> {
        const std::string block(64 * 1024, 'x');
        while (true) {
            CO_TRY(co_await write_all(to, block));
            count += block.size();
        }
    }(*stream, sent));
    ASSERT_TRUE(answered());
    EXPECT_EQ(answer_->error().code, Code::invalid) << "it says what it was not asked for";
    cloud_.pass(100ms);
    const std::uint64_t before = sent;
    cloud_.pass(200ms);
    EXPECT_EQ(sent, before) << "its connection is closed";
}

TEST_F(SpeedTest, EachHostIsMeasuredSeldomAndAnUnknownOneNotAtAll) {
    ask("h-2");
    ASSERT_TRUE(answered());
    EXPECT_EQ(answer_->error().code, Code::not_found);
    for (int i = 0; i < 2; ++i) {
        ask();
        (void)come(order(host_), " busy");
        ASSERT_TRUE(answered());
        EXPECT_EQ(answer_->error().reason, "link_busy");
    }
    ask();
    ASSERT_TRUE(answered());
    EXPECT_EQ(answer_->error().code, Code::exhausted);
}

TEST_F(SpeedTest, WhoIsCutOffIsCutOffHereToo) {
    ask();
    const auto stream = come(order(host_));
    std::string line(8, '\0');
    ASSERT_TRUE(cloud_.go(read_exactly(*stream, line)));
    cloud_.master.cut_off("h-1", true);
    ASSERT_TRUE(answered());
    EXPECT_FALSE(*answer_);
    EXPECT_EQ(answer_->error().code, Code::unavailable);
}

}  // namespace
}  // namespace hostler::rig

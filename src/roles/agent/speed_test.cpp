// Our end of measuring how fast the way to an access point is.
#include "wire/speed.h"

#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

// The access point's tunnel port.
class SpeedAnswersTest : public ::testing::Test {
protected:
    SpeedAnswersTest() {
        meet_ = *hostler::testing::run(world_.loop, world_.net.listen("tunnel:1"));
        world_.join();
    }
    void order(const std::string& ticket, std::uint32_t busy_kbit_s = 8'000) {
        uplink::Frame frame;
        frame.mutable_speed_order()->set_ticket(ticket);
        frame.mutable_speed_order()->set_tunnel_address("tunnel:1");
        frame.mutable_speed_order()->set_busy_kbit_s(busy_kbit_s);
        world_.master.say_in_the_clear(frame);
        world_.timers.advance(2s);
    }
    // What was said first, by whoever came.
    std::string greeted() {
        std::string line;
        const auto read =
            hostler::testing::try_run(world_.loop, [](SpeedAnswersTest& in, std::string& into) -> Task<> {
                in.peer_ = CO_TRY(co_await in.meet_->accept());
                for (char c = 0; c != '\n'; into += c) CO_TRY(co_await read_exactly(*in.peer_, {&c, 1}));
                co_return Result<>{};
            }(*this, line));
        return read && *read ? line : "nobody came";
    }

    World world_;
    ListenerPtr meet_;
    StreamPtr peer_;
};

TEST_F(SpeedAnswersTest, ComesWithItsTicketAndDoesAsItIsAsked) {
    order("ts_one");
    ASSERT_EQ(greeted(), "HOSTLER-SPEED/1 ts_one\n");
    const auto speed = hostler::testing::try_run(
        world_.loop, wire::measure_speed(*peer_, world_.timers, world_.random, {.bytes_max = 256 * 1024}));
    ASSERT_TRUE(speed && *speed) << (speed ? speed->error().message : "it waits");
    EXPECT_GT((*speed)->bytes, 2u * 256 * 1024);
    EXPECT_TRUE(world_.master.unsealed.empty()) << "nothing of it goes through the session";
}

TEST_F(SpeedAnswersTest, SaysWhereItsLinkIsInUse) {
    world_.host.network_per_sample = 5'000'000;
    order("ts_two");
    EXPECT_EQ(greeted(), "HOSTLER-SPEED/1 ts_two busy\n");
    peer_.reset();
    world_.timers.advance(1s);
    order("ts_three", 1'000'000);
    EXPECT_EQ(greeted(), "HOSTLER-SPEED/1 ts_three\n") << "so little is nothing to a link that is so fast";
}

TEST_F(SpeedAnswersTest, OneAtATimeAndNotForEver) {
    order("ts_one");
    ASSERT_EQ(greeted(), "HOSTLER-SPEED/1 ts_one\n");
    const StreamPtr first = std::move(peer_);
    order("ts_two");
    EXPECT_EQ(greeted(), "nobody came");
    world_.timers.advance(70s);
    char byte = 0;
    const auto end = hostler::testing::try_run(world_.loop, read_some(*first, {&byte, 1}));
    ASSERT_TRUE(end);
    EXPECT_TRUE(!*end || **end == 0) << "it has hung up";
    order("ts_three");
    EXPECT_EQ(greeted(), "HOSTLER-SPEED/1 ts_three\n");
}

TEST_F(SpeedAnswersTest, ATicketIsAWord) {
    order("two words"), order("line\nfeed"), order(""), order(std::string(200, 'x'));
    EXPECT_EQ(greeted(), "nobody came");
}

}  // namespace
}  // namespace hostler::agent

#include "roles/access/relay.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"

namespace hostler::access {
namespace {

using hostler::testing::run;
using hostler::testing::try_run;

class RelayTest : public ::testing::Test {
protected:
    SessionPtr open(std::string host) { return *relay_.open(std::move(host), "10.0.0.1:1", {}); }
    // What the master is told next: "+1 h-a", "-1 why", "1:frame", or "".
    std::string told() {
        const auto item = relay_.next();
        if (!item) return "";
        if (const auto* begun = std::get_if<Relay::Begun>(&*item))
            return fmt::format("+{} {}", begun->session->number, begun->session->host);
        if (const auto* ended = std::get_if<Relay::Ended>(&*item))
            return fmt::format("-{} {}", ended->number, ended->why);
        const auto& said = std::get<Relay::Said>(*item);
        return fmt::format("{}:{}", said.number, said.frame);
    }
    bool push(const SessionPtr& session, std::string frame) {
        const auto result = try_run(loop_, relay_.push_up(session, std::move(frame)));
        return result && *result;
    }

    Loop loop_;
    Relay relay_{{.sessions_max = 3, .per_host_max = 2, .up_bytes_max = 10, .down_bytes_max = 10}};
};

TEST_F(RelayTest, OneAgentCannotKeepTheOthersWaiting) {
    relay_.link_up();
    const auto loud = open("h-a"), quiet = open("h-b");
    EXPECT_EQ(told(), "+1 h-a");
    EXPECT_EQ(told(), "+2 h-b");
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(push(loud, "aa"));
    ASSERT_TRUE(push(quiet, "b"));
    EXPECT_FALSE(push(loud, "aa")) << "its own buffer is full; it is read no further";
    EXPECT_EQ(told(), "1:aa");
    EXPECT_EQ(told(), "2:b");
    EXPECT_TRUE(push(loud, "aa"));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(told(), "1:aa");
    EXPECT_EQ(told(), "");
}

TEST_F(RelayTest, WithoutAMasterFramesWaitAndAFreshLinkHearsOfAll) {
    const auto a = open("h-a");
    ASSERT_TRUE(push(a, "hello"));
    EXPECT_EQ(told(), "");
    relay_.link_up();
    EXPECT_EQ(told(), "+1 h-a");
    EXPECT_EQ(told(), "1:hello");
    relay_.link_down();
    const auto b = open("h-b");
    relay_.close(a, "gone");
    relay_.link_up();
    EXPECT_EQ(told(), "+2 h-b") << "the new link never knew of the session that ended meanwhile";
    EXPECT_EQ(told(), "");
}

TEST_F(RelayTest, AnEndIsToldAndWhatWasUnsaidGoesWithIt) {
    relay_.link_up();
    const auto a = open("h-a");
    EXPECT_EQ(told(), "+1 h-a");
    ASSERT_TRUE(push(a, "x"));
    relay_.close(a, "silent");
    relay_.close(a, "again");
    EXPECT_EQ(told(), "-1 silent");
    EXPECT_EQ(told(), "");
    EXPECT_FALSE(push(a, "x"));
    const auto b = open("h-b");
    relay_.close(b, "at once");
    EXPECT_EQ(told(), "") << "it was never announced";
}

TEST_F(RelayTest, ANewerConnectionOfAHostEndsItsOldestOnly) {
    const auto first = open("h-a"), second = open("h-a");
    EXPECT_FALSE(first->over());
    const auto third = open("h-a");
    EXPECT_TRUE(first->over());
    EXPECT_FALSE(second->over());
    EXPECT_EQ(relay_.newest("h-a"), third);
    open("h-b");
    EXPECT_EQ(relay_.open("h-c", "", {}).error().code, Code::exhausted);
    relay_.close_host("h-a", "revoked");
    EXPECT_TRUE(second->over() && third->over());
    EXPECT_FALSE(relay_.newest("h-a"));
    EXPECT_EQ(relay_.all().size(), 1U);
}

TEST_F(RelayTest, AnAgentThatTakesTooLittleIsClosed) {
    const auto a = open("h-a");
    EXPECT_TRUE(relay_.push_down(1, "123456"));
    EXPECT_FALSE(relay_.push_down(1, "123456"));
    EXPECT_TRUE(a->over());
    EXPECT_FALSE(relay_.push_down(1, "x"));
    EXPECT_FALSE(run(loop_, relay_.pop_down(a)));
    const auto b = open("h-b");
    EXPECT_TRUE(relay_.push_down(2, std::string(50, 'x'))) << "one large frame always passes";
    EXPECT_EQ(run(loop_, relay_.pop_down(b)), std::string(50, 'x'));
}

}  // namespace
}  // namespace hostler::access

#include "roles/access/peek.h"

#include <gtest/gtest.h>

#include "proto/uplink.pb.h"

namespace hostler::access {
namespace {

TEST(Peek, SeesWhatTheDecoderSees) {
    uplink::Frame frame;
    frame.set_call(300);
    frame.set_answer_to(1ULL << 63);
    frame.mutable_report()->mutable_facts()->set_hostname("h");
    const auto found = peek(frame.SerializeAsString());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->call, 300U);
    EXPECT_EQ(found->answer_to, 1ULL << 63);
    EXPECT_EQ(found->kind, uplink::Frame::kReport);
    EXPECT_EQ(peek("")->kind, 0);
}

TEST(Peek, RefusesTwoBodiesAndWhatIsNoFrame) {
    uplink::Frame first, second;
    first.mutable_report();
    second.mutable_session_up();
    EXPECT_FALSE(peek(first.SerializeAsString() + second.SerializeAsString()));
    EXPECT_FALSE(peek("GET / HTTP/1.1\r\n\r\n"));
    const auto whole = [&] {
        first.mutable_report()->set_sequence(77777);
        first.mutable_report()->mutable_facts()->set_kernel("6.1");
        return first.SerializeAsString();
    }();
    for (std::size_t size = 1; size < whole.size(); ++size)
        EXPECT_FALSE(peek(std::string_view{whole}.substr(0, size))) << size;
}

TEST(Peek, AgentsMayNotSpeakAsAccessOrGateway) {
    for (const int kind :
         std::initializer_list<int>{uplink::Frame::kPing, uplink::Frame::kAgentHello, uplink::Frame::kReport,
                                    uplink::Frame::kLogAnswer, uplink::Frame::kRenewRequest,
                                    uplink::Frame::kFailure, uplink::Frame::kGoodbye})
        EXPECT_TRUE(from_agent(kind)) << kind;
    for (const int kind :
         std::initializer_list<int>{uplink::Frame::kAccessHello, uplink::Frame::kSessionUp,
                                    uplink::Frame::kRelayed, uplink::Frame::kCutOff, uplink::Frame::kRoutes,
                                    uplink::Frame::kRedeemRequest, uplink::Frame::kTunnelOrder, 0})
        EXPECT_FALSE(from_agent(kind)) << kind;
}

}  // namespace
}  // namespace hostler::access

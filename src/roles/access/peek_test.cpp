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

}  // namespace
}  // namespace hostler::access

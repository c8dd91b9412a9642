// What a credential has opened ends with it, in the middle of whatever it is: over real sockets and TLS.
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const http::Header mine{"Authorization", "Bearer hk_mine"};
const http::Header signed_in{"Cookie", "__hostler_session=sess-a"};

class RevocationTest : public ::testing::Test {
protected:
    RevocationTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.master.keys = {{"hk_mine", "t-a"}, {"hk_second", "t-a"}, {"sess-a@closed", "t-a"}};
        cloud_.master.valid_s = 600;  // Kept verdicts must not keep anything open.
        cloud_.add_route("open", "h-1", true);
        cloud_.add_route("closed", "h-1", false);
    }
    http::ReplyPtr start(const std::string& name, http::Headers headers, std::string target) {
        auto request = cloud_.request(name, std::move(target));
        for (const auto& header : headers) request.headers.add(header.name, header.value);
        auto reply =
            cloud_.go(cloud_.client.start({cloud_.gateway->address()}, {.request = std::move(request)}));
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::move(*reply) : nullptr;
    }
    StreamPtr web_socket(const std::string& name, const http::Header& by, std::string target = "/ws") {
        const auto reply = start(name,
                                 {by,
                                  {"Connection", "Upgrade"},
                                  {"Upgrade", "websocket"},
                                  {"Sec-WebSocket-Version", "13"},
                                  {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}},
                                 std::move(target));
        EXPECT_EQ(reply->status, 101);
        return reply->status == 101 ? reply->take_stream().value() : nullptr;
    }
    bool echoes(Stream& stream) {
        std::string back(4, '\0');
        return cloud_.go(write_all(stream, "word")) && cloud_.go(read_exactly(stream, back)) &&
               back == "word";
    }
    // Within the 20 s that go() waits, for the sake of busy machines.
    bool ends(Stream& stream) {
        char more[64];
        const auto left = cloud_.go(read_some(stream, more));
        return (!left && left.error().code != Code::cancelled) || (left && *left == 0);
    }
    int status(const std::string& name, const http::Header& by, std::string target = "/") {
        auto request = cloud_.request(name, std::move(target));
        request.headers.add(by.name, by.value);
        return cloud_.fetch(std::move(request)).status;
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
};

TEST_F(RevocationTest, ASignOutCutsWhatTheSessionHadOpened) {
    const auto socket = web_socket("closed", signed_in);
    const auto by_key = web_socket("closed", mine);
    ASSERT_TRUE(echoes(*socket));
    EXPECT_EQ(status("closed", signed_in, "/.hostler/sign-out"), 200);
    EXPECT_TRUE(ends(*socket));
    EXPECT_TRUE(echoes(*by_key)) << "and nothing else";
}

TEST_F(RevocationTest, ADeletedKeyIsCutOffEverything) {
    const auto socket = web_socket("closed", mine);
    const auto other = web_socket("closed", {"Authorization", "Bearer hk_second"});
    const auto open_to_all = web_socket("open", mine);
    agent_->events = 1;
    const auto events = start("closed", {mine}, "/events");
    char into[64];
    ASSERT_TRUE(cloud_.go(events->read(into)));
    cloud_.pass(3s);
    ASSERT_TRUE(echoes(*socket)) << "it is asked about again and again, and is good";

    cloud_.master.keys.erase("hk_mine");
    EXPECT_TRUE(ends(*socket));
    const auto rest = cloud_.go(events->read(into));
    EXPECT_FALSE(rest) << "a download that was cut is not taken for whole";
    EXPECT_EQ(status("closed", mine), 401) << "nor does its kept verdict open anything more";
    EXPECT_TRUE(echoes(*other));
    EXPECT_TRUE(echoes(*open_to_all)) << "a public port needs nobody";
}

// The same for a share link that was revoked or has expired: to the gateway both are a session that is over.
TEST_F(RevocationTest, ASessionThatTheMasterEndedIsCut) {
    const auto socket = web_socket("closed", signed_in);
    cloud_.master.keys.erase("sess-a@closed");
    EXPECT_TRUE(ends(*socket));
    EXPECT_EQ(status("closed", signed_in), 401);
}

TEST_F(RevocationTest, NobodyIsCutWhileTheMasterIsAway) {
    const auto socket = web_socket("closed", mine);
    const auto at = cloud_.master.address;
    cloud_.master.vanish();
    cloud_.master.keys.erase("hk_mine");
    cloud_.pass(5s);
    EXPECT_TRUE(echoes(*socket));
    cloud_.master.serve(at);
    EXPECT_TRUE(ends(*socket));
}

TEST_F(RevocationTest, ATerminalEndsWithTheKeyAndDoesNotComeBack) {
    agent_->origin = [](StreamPtr stream) -> Task<> {
        char bytes[512];
        while (true) {
            const auto size = CO_TRY(co_await read_some(*stream, bytes));
            if (size == 0) co_return co_await stream->finish();
            CO_TRY(co_await write_all(*stream, std::string_view{bytes, size}));
        }
    };
    const std::string target = "/v1/instances/i-closed/exec?command=sh&session=0123456789abcdef";
    const auto enter = [&](const std::string& more) {
        auto request = cloud_.request("", target + more);
        request.headers = {{"Host", "localhost:" + cloud_.port()},
                           mine,
                           {"Connection", "Upgrade"},
                           {"Upgrade", "websocket"},
                           {"Sec-WebSocket-Version", "13"},
                           {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
        auto reply =
            cloud_.go(cloud_.client.start({cloud_.gateway->address()}, {.request = std::move(request)}));
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::move(*reply) : nullptr;
    };
    const auto reply = enter("");
    ASSERT_EQ(reply->status, 101);
    const auto terminal = reply->take_stream().value();
    ASSERT_TRUE(echoes(*terminal));
    cloud_.master.keys.erase("hk_mine");
    EXPECT_TRUE(ends(*terminal));
    EXPECT_EQ(enter("&resume=true")->status, 401);
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_EQ(enter("&resume=true")->status, 503) << "not on the strength of what was known before";
}

TEST_F(RevocationTest, ASignOutThatNoMasterHasHeardOutlivesTheGateway) {
    ASSERT_EQ(status("closed", signed_in), 200);
    const auto at = cloud_.master.address;
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_EQ(status("closed", signed_in, "/.hostler/sign-out"), 200);
    cloud_.kill_gateway();
    EXPECT_THAT(cloud_.master.signed_out, IsEmpty());
    cloud_.begin_gateway();
    cloud_.master.serve(at);
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.gateway->linked(); }));
    EXPECT_EQ(status("closed", signed_in), 401);
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.master.signed_out.empty(); }));
    EXPECT_THAT(cloud_.master.signed_out, ElementsAre("sess-a@closed"));
    // Told once, it is forgotten.
    EXPECT_TRUE(cloud_.eventually([&] {
        return cloud_.gateway_journal.all().lower_bound("sign-out/") ==
               cloud_.gateway_journal.all().upper_bound("sign-out0");
    }));
}

}  // namespace
}  // namespace hostler::rig

// A page opens a terminal with a one-time ticket: over real sockets and TLS.
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;

const std::string console = "https://console.example";

class TicketTest : public ::testing::Test {
protected:
    TicketTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.master.keys = {{"hk_mine", "t-a"}, {"hk_second", "t-a"}};
        cloud_.master.valid_s = 600;  // Kept verdicts must not keep anything open.
        cloud_.add_route("box", "h-1", false);
        agent_->origin = [](StreamPtr stream) -> Task<> {
            char bytes[512];
            while (true) {
                const auto size = CO_TRY(co_await read_some(*stream, bytes));
                if (size == 0) co_return co_await stream->finish();
                CO_TRY(co_await write_all(*stream, std::string_view{bytes, size}));
            }
        };
    }
    std::string ticket(const std::string& key = "hk_mine") {
        std::string made = fmt::format("ht_{}", ++made_);
        cloud_.master.tickets[made] = {key, "i-box", "exec", console};
        return made;
    }
    static http::Headers by(const std::string& shown, const std::string& origin = console) {
        http::Headers headers{{"Sec-WebSocket-Protocol", "hostler.session, hostler.ticket." + shown},
                              {"Sec-Fetch-Site", "cross-site"}};
        if (!origin.empty()) headers.add("Origin", origin);
        return headers;
    }
    http::ReplyPtr enter(const http::Headers& headers, const std::string& more = "",
                         const std::string& kind = "exec?command=sh") {
        auto request =
            cloud_.request("", fmt::format("/v1/instances/i-box/{}&session=0123456789abcdef{}", kind, more));
        request.headers = {{"Host", "localhost:" + cloud_.port()},
                           {"Connection", "Upgrade"},
                           {"Upgrade", "websocket"},
                           {"Sec-WebSocket-Version", "13"},
                           {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
        for (const auto& header : headers) request.headers.add(header.name, header.value);
        auto reply =
            cloud_.go(cloud_.client.start({cloud_.gateway->address()}, {.request = std::move(request)}));
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::move(*reply) : nullptr;
    }
    // "101", or status and code of the refusal.
    std::string outcome(http::ReplyPtr reply) {
        if (reply->status == 101) return "101";
        std::string body, piece(4096, '\0');
        while (true) {
            const auto size = cloud_.go(reply->read(piece));
            if (!size || *size == 0) break;
            body.append(piece, 0, *size);
        }
        const auto code = body.find("\"code\":\"");
        if (code == body.npos) return fmt::format("{} {}", reply->status, body);
        return fmt::format("{} {}", reply->status,
                           body.substr(code + 8, body.find('"', code + 8) - code - 8));
    }
    bool echoes(Stream& stream) {
        std::string back(4, '\0');
        return cloud_.go(write_all(stream, "word")) && cloud_.go(read_exactly(stream, back)) &&
               back == "word";
    }
    bool ends(Stream& stream) {
        char more[64];
        const auto left = cloud_.go(read_some(stream, more));
        return (!left && left.error().code != Code::cancelled) || (left && *left == 0);
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
    int made_ = 0;
};

TEST_F(TicketTest, OpensOneConnectionOfAPageOfItsOrigin) {
    const std::string shown = ticket();
    const auto reply = enter(by(shown));
    ASSERT_EQ(reply->status, 101);
    EXPECT_EQ(reply->headers.find("Sec-WebSocket-Protocol"), "hostler.session");
    const auto terminal = reply->take_stream().value();
    EXPECT_TRUE(echoes(*terminal));
    EXPECT_EQ(outcome(enter(by(shown))), "401 ticket_unknown");
    EXPECT_EQ(outcome(enter(by(shown), "&resume=true")), "401 ticket_unknown") << "while a master answers";
    EXPECT_EQ(outcome(enter(by(ticket()), "&resume=true")), "101") << "another one resumes";
    EXPECT_TRUE(echoes(*terminal));
}

TEST_F(TicketTest, OpensNothingElse) {
    for (const char* origin : {"", "null", "http://console.example", "https://console.example:8443"})
        EXPECT_EQ(outcome(enter(by(ticket(), origin))), "401 ticket_unknown") << origin;
    EXPECT_EQ(outcome(enter(by(ticket()), "", "get?path=/etc")), "401 ticket_unknown");
    for (const std::string& shown : {std::string{}, std::string{"ht_none"}, std::string{"hk_mine"},
                                     std::string{"mark"}, std::string(4000, 'x')})
        EXPECT_EQ(outcome(enter(by(shown))), "401 ticket_unknown") << shown;
    const std::string shown = ticket();
    EXPECT_EQ(outcome(enter({{"Sec-WebSocket-Protocol", "hostler.ticket." + shown}, {"Origin", console}})),
              "400 protocol_missing");
    EXPECT_EQ(outcome(enter({{"Authorization", "Bearer " + shown}})), "401 key_missing");
    EXPECT_EQ(outcome(enter({{"X-Hostler-Key", shown}})), "401 key_unknown");
    EXPECT_EQ(outcome(enter({{"X-Hostler-Key", "mark of mine"}})), "401 key_unknown");
    EXPECT_EQ(outcome(enter(by(shown))), "101") << "none of that has used it";
}

TEST_F(TicketTest, WithoutOneAPageOfAnotherOriginIsRefused) {
    const http::Header key{"Authorization", "Bearer hk_mine"};
    EXPECT_EQ(outcome(enter({key, {"Origin", console}})), "403 other_origin");
    EXPECT_EQ(outcome(enter({key, {"Sec-Fetch-Site", "same-site"}})), "403 other_origin");
    EXPECT_EQ(outcome(enter({key, {"Origin", console}, {"Sec-WebSocket-Protocol", "hostler.session"}})),
              "403 other_origin");
    const auto reply = enter({key, {"Sec-WebSocket-Protocol", "hostler.session"}});
    EXPECT_EQ(reply->status, 101);
    EXPECT_FALSE(reply->headers.find("Sec-WebSocket-Protocol"));
}

TEST_F(TicketTest, ATerminalEndsWithTheCredentialOfWhoAskedForIt) {
    const auto mine = enter(by(ticket()))->take_stream().value();
    const auto second = enter(by(ticket("hk_second")), "2")->take_stream().value();
    ASSERT_TRUE(echoes(*mine) && echoes(*second));
    cloud_.master.keys.erase("hk_mine");
    EXPECT_TRUE(ends(*mine));
    EXPECT_EQ(outcome(enter(by(ticket()), "&resume=true")), "401 ticket_unknown");
    cloud_.pass(3s);
    EXPECT_TRUE(echoes(*second)) << "another's";
}

// The page can get no other ticket then.
TEST_F(TicketTest, ResumesWithTheSameTicketWhileNoMasterAnswers) {
    const std::string shown = ticket();
    const auto terminal = enter(by(shown))->take_stream().value();
    ASSERT_TRUE(echoes(*terminal));
    const std::string unused = ticket();
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_TRUE(echoes(*terminal));
    EXPECT_EQ(outcome(enter(by(shown))), "503 no_master");
    EXPECT_EQ(outcome(enter(by(shown, "https://evil.example"), "&resume=true")), "503 no_master");
    EXPECT_EQ(outcome(enter(by(shown), "&resume=true", "get?path=/etc")), "503 no_master");
    EXPECT_EQ(outcome(enter(by(unused), "&resume=true")), "503 no_master");
    EXPECT_EQ(outcome(enter(by(shown), "2&resume=true")), "503 no_master") << "another session";
    EXPECT_EQ(outcome(enter(by(shown), "&resume=true")), "101");
}

// Told before the outage, while the session was not connected.
TEST_F(TicketTest, DoesNotResumeWhenItsCredentialHasEnded) {
    const std::string shown = ticket(), second = ticket("hk_second");
    auto mine = enter(by(shown))->take_stream().value();
    auto others = enter(by(second), "2")->take_stream().value();
    ASSERT_TRUE(echoes(*mine) && echoes(*others));
    cloud_.pass(5s);
    mine = nullptr, others = nullptr;
    cloud_.pass(100ms);
    cloud_.master.end_key("hk_mine");
    cloud_.pass(100ms);
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_EQ(outcome(enter(by(shown), "&resume=true")), "503 no_master");
    EXPECT_EQ(outcome(enter(by(second), "2&resume=true")), "101") << "another's";
}

TEST_F(TicketTest, DoesNotResumeBehindTheEndOfItsCredential) {
    cloud_.master.ends_s["hk_mine"] = 5;
    const std::string shown = ticket();
    auto mine = enter(by(shown))->take_stream().value();
    ASSERT_TRUE(echoes(*mine));
    cloud_.pass(3s);
    mine = nullptr;
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_EQ(outcome(enter(by(shown), "&resume=true")), "101");
    cloud_.pass(6s);
    EXPECT_EQ(outcome(enter(by(shown), "&resume=true")), "503 no_master");
}

TEST_F(TicketTest, AMarkIsNoKeyWhileNoMasterAnswers) {
    const auto terminal = enter(by(ticket()))->take_stream().value();
    ASSERT_TRUE(echoes(*terminal));
    cloud_.pass(3s);  // Masters were asked about it again, so that it is believed.
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    auto request = cloud_.request("box", "/");
    request.headers.add("X-Hostler-Key", "mark of mine");
    EXPECT_EQ(cloud_.fetch(std::move(request)).status, 503);
    EXPECT_TRUE(echoes(*terminal));
}

}  // namespace
}  // namespace hostler::rig

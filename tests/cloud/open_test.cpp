// The third flow of the source: open an instance by its URL.
#include "browser.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two instances for all of them: one open to everybody, one private.
class Open : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        open = Cloud::shared().run({.id = "open-1"});
        closed = Cloud::shared().run({.id = "closed-1", .open_to_all = false});
    }
    static void TearDownTestSuite() {
        Cloud::shared().end("open-1");
        Cloud::shared().end("closed-1");
    }
    // A person of tenant acme, with this login and password.
    void make_person(const std::string& login, const std::string& password) {
        const Page made =
            cloud.api("POST", "/v1/users", json::object{{"login", login}, {"tenantID", "acme"}});
        ASSERT_EQ(made.status, 201) << made.body;
        const Page set = cloud.api("POST", "/v1/password-reset",
                                   json::object{{"secret", made.at("/secret")}, {"newPassword", password}});
        ASSERT_EQ(set.status, 200) << set.body;
        const Page granted = cloud.api(
            "POST", "/v1/grants",
            json::object{{"subject", "user/" + made.at("/id")}, {"role", "member"}, {"tenantID", "acme"}});
        ASSERT_EQ(granted.status, 201) << granted.body;
    }
    static std::string open, closed;
    static inline const http::Headers browser{{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}};
    static http::Headers bearer(const std::string& key) { return {{"Authorization", "Bearer " + key}}; }
};
std::string Open::open, Open::closed;

TEST_F(Open, APublicPortAsksForNoKey) {
    const Page page = cloud.web.fetch("GET", open + "/", browser);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("open-1"));
    const Page head = cloud.web.fetch("HEAD", open + "/");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("Content-Length"), std::to_string(page.body.size()));
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(cloud.web.fetch("GET", open + "/nothing").status, 404);
}

TEST_F(Open, APrivatePortAsksProgramsForAKey) {
    const Page refused = cloud.web.fetch("GET", closed + "/");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.at("/code"), "unauthenticated") << refused.body;
    EXPECT_THAT(refused.header("WWW-Authenticate"), StartsWith("Bearer"));
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/", bearer("hk_of_nobody")).status, 401);
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/healthz", bearer(cloud.tenant("acme").key)).body, "ok\n");
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/healthz", {{"X-Hostler-Key", cloud.tenant("acme").key}}).body,
              "ok\n");
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/healthz", bearer(cloud.key)).body, "ok\n")
        << "an operator sees everything";
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/", bearer(cloud.tenant("other").key)).status, 403);
    int refusal = 0;
    EXPECT_EQ(cloud.web.web_socket(closed + "/ws", {}, &refusal), nullptr);
    EXPECT_EQ(refusal, 401);
    EXPECT_NE(cloud.web.web_socket(closed + "/ws", bearer(cloud.tenant("acme").key)), nullptr);
}

TEST_F(Open, CredentialsNeverReachTheProgram) {
    http::Headers headers = bearer(cloud.tenant("acme").key);
    headers.add("X-Hostler-Key", cloud.tenant("acme").key);
    headers.add("Cookie", "mine=1; __hostler_session=stolen; theirs=2");
    headers.add("X-Kept", "yes");
    const Page seen = cloud.web.fetch("GET", closed + "/headers", headers);
    ASSERT_EQ(seen.status, 200) << seen.body;
    EXPECT_THAT(seen.body, Not(HasSubstr("hk_")));
    EXPECT_THAT(seen.body, Not(HasSubstr("__hostler")));
    EXPECT_THAT(seen.body, Not(HasSubstr("Authorization")));
    EXPECT_THAT(seen.body, HasSubstr("mine=1"));
    EXPECT_THAT(seen.body, HasSubstr("theirs=2"));
    EXPECT_THAT(seen.body, HasSubstr("X-Kept"));
    // A program's own credentials are its own.
    const Page own = cloud.web.fetch("GET", open + "/headers", bearer("token-of-the-program"));
    EXPECT_THAT(own.body, HasSubstr("token-of-the-program"));
}

TEST_F(Open, ABrowserSignsIn) {
    const Page sent = cloud.web.fetch("GET", closed + "/env?a=1", browser);
    ASSERT_EQ(sent.status, 302);
    const std::string sign_in = sent.header("Location");
    ASSERT_THAT(sign_in, StartsWith(cloud.api_url + "/sign-in?return="));
    const Page form = cloud.web.fetch("GET", sign_in, browser);
    EXPECT_EQ(form.status, 200);
    EXPECT_THAT(form.body, HasSubstr("<form"));

    const std::string back = sign_in.substr(sign_in.find("return="));
    const auto post = [&](const std::string& key) {
        return cloud.web.fetch("POST", cloud.api_url + "/sign-in",
                               {{"Content-Type", "application/x-www-form-urlencoded"}}, back + "&key=" + key);
    };
    EXPECT_EQ(post("hk_wrong").status, 403);
    const Page accepted = post(cloud.tenant("acme").key);
    ASSERT_EQ(accepted.status, 303) << accepted.body;
    const std::string with_code = accepted.header("Location");
    ASSERT_THAT(with_code, StartsWith(closed + "/.hostler/session?code="));
    EXPECT_THAT(with_code, Not(HasSubstr("hk_")));

    const Page redeemed = cloud.web.fetch("GET", with_code, browser);
    ASSERT_EQ(redeemed.status, 303) << redeemed.body;
    EXPECT_EQ(redeemed.header("Location"), "/env?a=1");
    const std::string set = redeemed.header("Set-Cookie");
    EXPECT_THAT(set, HasSubstr("HttpOnly"));
    EXPECT_THAT(set, Not(HasSubstr("Domain")));
    const std::string cookie = set.substr(0, set.find(';'));
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/healthz", {{"Cookie", cookie}}).body, "ok\n");
    EXPECT_THAT(cloud.web.fetch("GET", closed + "/headers", {{"Cookie", cookie}}).body,
                Not(HasSubstr("__hostler")));

    // The code worked once.
    EXPECT_EQ(cloud.web.fetch("GET", with_code, browser).status, 403);

    // Somebody else may sign in, and sees nothing.
    const Page other = post(cloud.tenant("other").key);
    if (other.status == 303) {
        const Page theirs = cloud.web.fetch("GET", other.header("Location"), browser);
        const std::string their_cookie =
            theirs.header("Set-Cookie").substr(0, theirs.header("Set-Cookie").find(';'));
        EXPECT_THAT(cloud.web.fetch("GET", closed + "/healthz", {{"Cookie", their_cookie}}).status,
                    AnyOf(401, 403));
    }
    // A page elsewhere is no place to be sent back to.
    EXPECT_EQ(cloud.web.fetch("GET", cloud.api_url + "/sign-in?return=http%3A%2F%2Fevil.example%2F", browser)
                  .status,
              400);

    // Sent by hand to another private instance of the same tenant, it opens nothing.
    const std::string beside = cloud.run({.id = "closed-2", .open_to_all = false});
    EXPECT_EQ(cloud.web.fetch("GET", beside + "/healthz", bearer(cloud.tenant("acme").key)).body, "ok\n");
    EXPECT_EQ(cloud.web.fetch("GET", beside + "/healthz", {{"Cookie", cookie}}).status, 401);
    cloud.end("closed-2");

    const Page out = cloud.web.fetch("GET", closed + "/.hostler/sign-out", {{"Cookie", cookie}});
    EXPECT_EQ(out.status, 200);
    EXPECT_THAT(out.header("Set-Cookie"), HasSubstr("Max-Age=0"));
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/healthz", {{"Cookie", cookie}}).status, 401)
        << "a copy of the cookie is dead too";
}

TEST_F(Open, AWebSocketCarriesBothWays) {
    const auto socket = cloud.web.web_socket(open + "/ws");
    ASSERT_TRUE(socket);
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::text, "hello"));
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::binary, std::string("\0\xff\x01", 3)));
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::text, ""));
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::binary, pattern(1 << 20)));
    ASSERT_TRUE(socket->send(WebSocket::Kind::ping, "are you there"));
    const auto pong = socket->receive();
    ASSERT_TRUE(pong);
    EXPECT_EQ(pong->kind, WebSocket::Kind::pong);
    ASSERT_TRUE(socket->send(WebSocket::Kind::close, std::string("\x03\xe8", 2)));
    const auto closed_back = socket->receive();
    ASSERT_TRUE(closed_back);
    EXPECT_EQ(closed_back->kind, WebSocket::Kind::close);
}

TEST_F(Open, EventsComeOneByOne) {
    const auto pieces = cloud.web.pieces(open + "/sse?n=4");
    std::string all;
    for (const auto& piece : pieces) all += piece.bytes;
    EXPECT_THAT(all, HasSubstr("id: 4\n"));
    // They leave 200 ms apart; whoever holds them back lets them go together.
    ASSERT_GE(pieces.size(), 4u) << all;
    EXPECT_LT(pieces.front().at, 150ms);
    EXPECT_GT(pieces.back().at - pieces.front().at, 450ms);
}

TEST_F(Open, LargeBodiesPassWhole) {
    const std::string body = pattern(20 << 20);
    const Page back =
        cloud.web.fetch("POST", open + "/echo", {{"Content-Type", "application/octet-stream"}}, body);
    EXPECT_EQ(back.status, 200);
    EXPECT_TRUE(back.body == body) << back.body.size() << " bytes came back";
}

TEST_F(Open, PagesTellWhyThereIsNothingToSee) {
    ASSERT_EQ(cloud.begin({.id = "slow-1", .env = {{"START_DELAY_MS", "3000"}}}).status, 200);
    std::string slow = cloud.instance("slow-1").at("/urls/0/url");
    Page page;
    EXPECT_TRUE(cloud.until([&] { return (page = cloud.web.fetch("GET", slow, browser)).status == 503; }));
    EXPECT_EQ(page.header("X-Hostler-Notice"), "starting") << page.body;
    EXPECT_THAT(page.body, HasSubstr("Starting"));
    EXPECT_THAT(page.header("Content-Type"), StartsWith("text/html"));
    EXPECT_FALSE(page.header("Retry-After").empty());
    cloud.wait_for("slow-1", "running");
    EXPECT_TRUE(cloud.until([&] { return cloud.web.fetch("GET", slow, browser).status == 200; }));
    cloud.end("slow-1");
    EXPECT_TRUE(cloud.until([&] { return (page = cloud.web.fetch("GET", slow, browser)).status == 410; }));
    EXPECT_THAT(page.body, HasSubstr("Stopped"));

    ASSERT_EQ(cloud.begin({.id = "failing-1", .env = {{"EXIT_CODE", "3"}}}).status, 200);
    const std::string failed = cloud.wait_for("failing-1", "failed").at("/urls/0/url");
    EXPECT_TRUE(cloud.until([&] {
        return (page = cloud.web.fetch("GET", failed, browser)).header("X-Hostler-Notice") == "failed";
    })) << page.body;
    EXPECT_EQ(page.status, 503);
    EXPECT_THAT(page.body, HasSubstr("Failed"));

    const std::string gone =
        slow.substr(0, slow.find("-i-")) + "-i-doesnotexist" + slow.substr(slow.find('.'));
    page = cloud.web.fetch("GET", gone, browser);
    EXPECT_EQ(page.status, 404);
    EXPECT_THAT(page.body, HasSubstr("Nothing lives here"));
}

TEST_F(Open, ABrowserStartsWhatIsStopped) {
    const std::string url = cloud.run({.id = "stopped-1", .open_to_all = false});
    ASSERT_EQ(cloud.cli({"instance", "stop", "stopped-1", "--wait"}).code, 0);
    ASSERT_TRUE(cloud.until([&] {
        return cloud.web.fetch("GET", url, bearer(cloud.tenant("acme").key)).header("X-Hostler-Notice") ==
               "resting";
    }));
    make_person("ann@example.com", "correct horse");
    Browser chrome{cloud.web, cloud.folder + "/start-browser"};
    chrome.open(url + "/env");
    ASSERT_TRUE(chrome.type("#login", "ann@example.com")) << chrome.url();
    ASSERT_TRUE(chrome.type("#password", "wrong horses"));
    ASSERT_TRUE(chrome.click("#sign-in"));
    ASSERT_TRUE(chrome.shows(".alert")) << chrome.url();
    EXPECT_THAT(chrome.text(".alert"), HasSubstr("is wrong"));
    ASSERT_TRUE(chrome.type("#password", "correct horse"));
    ASSERT_TRUE(chrome.click("#sign-in"));
    ASSERT_TRUE(chrome.shows("#start")) << chrome.url();
    EXPECT_THAT(chrome.text(".detail"), HasSubstr("hostler instance start stopped-1"));
    ASSERT_TRUE(chrome.click("#start"));
    ASSERT_TRUE(
        chrome.until("return !document.querySelector('main') && "
                     "document.body.textContent.includes('HOSTLER')"))
        << chrome.text("body");
    EXPECT_EQ(chrome.url(), url + "/env") << "it opens where the page was asked for";
    cloud.end("stopped-1");
}

// `hostler login --browser`, with a browser that is opened by hand.
TEST_F(Open, ACommandLineSignsInThroughABrowser) {
    make_person("bell@example.com", "correct horse");
    const Page begun = cloud.api("POST", "/v1/sign-in/device", json::object{{"host", "laptop"}});
    ASSERT_EQ(begun.status, 200) << begun.body;
    const auto ask = [&] {
        return cloud.api("POST", "/v1/sign-in/device/token",
                         json::object{{"deviceCode", begun.at("/deviceCode")}});
    };
    EXPECT_EQ(ask().at("/code"), "authorization_pending");
    EXPECT_EQ(ask().at("/code"), "slow_down");
    Browser chrome{cloud.web, cloud.folder + "/device-browser"};
    chrome.open(begun.at("/verificationUriComplete"));
    ASSERT_TRUE(chrome.type("#login", "bell@example.com")) << chrome.url();
    ASSERT_TRUE(chrome.type("#password", "correct horse"));
    ASSERT_TRUE(chrome.click("#sign-in"));
    ASSERT_TRUE(chrome.shows("#allow")) << chrome.text("body");
    EXPECT_THAT(chrome.text(".detail"),
                HasSubstr("on laptop (127.0.0.1) wants to sign in as bell@example.com"));
    EXPECT_THAT(chrome.text("body"), HasSubstr(begun.at("/userCode")));
    ASSERT_TRUE(chrome.click("#allow"));
    ASSERT_TRUE(chrome.until("return document.body.textContent.includes('is signed in')"));
    Page taken;
    ASSERT_TRUE(cloud.until([&] { return (taken = ask()).status == 200; })) << taken.body;
    EXPECT_EQ(cloud.api("GET", "/v1/whoami", nullptr, taken.at("/secret")).at("/name"), "bell@example.com");
}

}  // namespace
}  // namespace hostler::cloud

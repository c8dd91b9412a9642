// What the gateway itself shows in a browser: the front door, and pages of instances that do not run.
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PagesTest : public ::testing::Test {
protected:
    PagesTest() {
        cloud_.master.keys = {{"hk_mine", "t-a"}, {"hk_other", "t-b"}, {"sess-a@closed", "t-a"}};
        cloud_.add_route("open", "h-1", true);
        cloud_.add_route("closed", "h-1", false);
        for (const char* name : {"open", "closed"}) set_state(name, "resting");
    }
    void set_state(const std::string& name, const std::string& state) {
        cloud_.master.routes[name].set_state(state);
        cloud_.master.routes[name].set_detail("told before: " + state);
        cloud_.master.tell_routes();
        ASSERT_TRUE(cloud_.eventually(
            [&] { return cloud_.gateway->routes().find(name)->detail == "told before: " + state; }));
    }
    http::Response send(const std::string& method, const std::string& name, const std::string& target,
                        const std::vector<std::pair<std::string, std::string>>& headers) {
        auto request = cloud_.request(name, target);
        request.method = method;
        request.headers.add("Accept", "text/html,*/*;q=0.8");
        for (const auto& [field, value] : headers) request.headers.add(field, value);
        return cloud_.fetch(std::move(request));
    }
    static std::pair<std::string, std::string> cookie(const std::string& session) {
        return {"Cookie", "__hostler_session=" + session};
    }
    std::pair<std::string, std::string> own_origin(const std::string& name) {
        return {"Origin",
                "http://" + std::string{cloud_.request(name, "/").headers.find("Host").value_or("")}};
    }

    Cloud cloud_;
};

TEST_F(PagesTest, TheGatewaysOwnAddressSaysWhatItIs) {
    auto request = cloud_.request("open", "/");
    request.headers.set("Host", "localhost:" + cloud_.port());
    const auto program = cloud_.fetch(request);
    EXPECT_EQ(program.status, 200);
    EXPECT_THAT(program.body, HasSubstr("\"what\":\"gateway\""));
    request.headers.set("Accept", "text/html");
    const auto person = cloud_.fetch(request);
    EXPECT_EQ(person.status, 200);
    EXPECT_THAT(person.body, HasSubstr("hostler key create"));
    EXPECT_THAT(std::string{person.headers.find("Content-Security-Policy").value_or("")},
                HasSubstr("default-src 'none'"));
    request.headers.set("Host", "elsewhere.example");
    EXPECT_EQ(cloud_.fetch(request).status, 421);
}

TEST_F(PagesTest, WhoIsSignedInStartsWhatIsStopped) {
    cloud_.master.explanation = "It is stopped: <b>why</b>.";
    const auto page = send("GET", "closed", "/lab?x=1", {cookie("sess-a")});
    EXPECT_EQ(page.status, 503);
    EXPECT_THAT(page.body, HasSubstr("It is stopped: &lt;b&gt;why"));
    EXPECT_THAT(page.body, HasSubstr("<form method=\"post\" action=\"/.hostler/start?to=%2Flab%3Fx%3D1\">"));
    EXPECT_THAT(std::string{page.headers.find("Content-Security-Policy").value_or("")},
                HasSubstr("form-action 'self'"));
    const auto done =
        send("POST", "closed", "/.hostler/start?to=%2Flab%3Fx%3D1", {cookie("sess-a"), own_origin("closed")});
    EXPECT_EQ(done.status, 303);
    EXPECT_EQ(done.headers.find("Location"), "/lab?x=1");
    EXPECT_THAT(cloud_.master.started, ElementsAre("sess-a@closed"));
    EXPECT_EQ(send("POST", "closed", "/.hostler/start?to=%2F%2Fevil.example%2F", {cookie("sess-a")})
                  .headers.find("Location"),
              "/")
        << "it leads nowhere else";
}

TEST_F(PagesTest, APageOfAnotherOriginStartsNothing) {
    for (const auto& header :
         std::vector<std::pair<std::string, std::string>>{{"Origin", "http://evil.example"},
                                                          {"Origin", "null"},
                                                          {"Sec-Fetch-Site", "cross-site"},
                                                          {"Sec-Fetch-Site", "same-site"}}) {
        const auto refused = send("POST", "closed", "/.hostler/start", {cookie("sess-a"), header});
        EXPECT_EQ(refused.status, 403) << header.second;
        EXPECT_EQ(refused.headers.find("X-Hostler-Notice"), "other_origin") << header.second;
    }
    EXPECT_EQ(send("GET", "closed", "/.hostler/start", {cookie("sess-a")}).status, 404) << "a link, an image";
    EXPECT_THAT(cloud_.master.started, IsEmpty());
}

TEST_F(PagesTest, OthersGetNoButtonAndStartNothing) {
    const auto stranger = send("GET", "open", "/", {});
    EXPECT_THAT(stranger.body, Not(HasSubstr("<form")));
    EXPECT_THAT(stranger.body, Not(HasSubstr("told before")));
    EXPECT_THAT(stranger.body, HasSubstr("hostler instance start"));
    EXPECT_THAT(stranger.body, HasSubstr("Sign in to start it"));
    EXPECT_EQ(send("POST", "open", "/.hostler/start?to=%2Fa", {}).status, 303) << "to where it may sign in";
    EXPECT_EQ(send("POST", "open", "/.hostler/start", {{"X-Hostler-Key", "hk_other"}}).status, 403);
    cloud_.master.guests = {"sess-a@closed"};
    const auto guest = send("GET", "closed", "/", {cookie("sess-a")});
    EXPECT_THAT(guest.body, Not(HasSubstr("<form"))) << "by a share link";
    EXPECT_THAT(guest.body, HasSubstr("told before: resting"));
    EXPECT_EQ(send("POST", "closed", "/.hostler/start", {cookie("sess-a")}).status, 409);
    EXPECT_THAT(cloud_.master.started, IsEmpty());
}

TEST_F(PagesTest, AStartThatIsRefusedSaysWhy) {
    cloud_.master.start_refused = "no host has <4> free GPUs";
    const auto refused = send("POST", "closed", "/.hostler/start?to=%2Flab", {cookie("sess-a")});
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("no host has &lt;4&gt; free GPUs"));
    EXPECT_THAT(refused.body, HasSubstr("href=\"/lab\""));
}

TEST_F(PagesTest, AStartAndAFailureAreExplained) {
    set_state("closed", "ready");
    cloud_.master.explanation = "It is pulling: 3 of 9 layers, 120 of 800 MiB.";
    const auto starting = send("GET", "closed", "/", {cookie("sess-a")});
    EXPECT_EQ(starting.headers.find("X-Hostler-Notice"), "starting");
    EXPECT_THAT(starting.body, HasSubstr("120 of 800 MiB"));
    EXPECT_THAT(starting.body, HasSubstr("http-equiv=\"refresh\" content=\"2\""));
    EXPECT_THAT(starting.body, Not(HasSubstr("<form")));
    set_state("closed", "failed");
    cloud_.master.explanation =
        "It is failed: it exited.\nLet it begin once more: `hostler instance retry lab`.";
    const auto failed = send("GET", "closed", "/", {cookie("sess-a")});
    EXPECT_EQ(failed.headers.find("X-Hostler-Notice"), "failed");
    EXPECT_THAT(failed.body, HasSubstr("hostler instance retry lab"));
    EXPECT_THAT(failed.body, Not(HasSubstr("http-equiv=\"refresh\"")));
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.links() == 0; }));
    EXPECT_THAT(send("GET", "closed", "/", {cookie("sess-a")}).body, HasSubstr("told before: failed"))
        << "what is known without a master";
}

}  // namespace
}  // namespace hostler::rig

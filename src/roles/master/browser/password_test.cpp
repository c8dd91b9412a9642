// The page where a person sets a password with the secret of a link.
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct BrowserPassword : PeopleTest {
    BrowserPassword() {
        settings.public_url = "https://gpu.example.com/";
        headers = "Sec-Fetch-Site: same-origin\r\n";
    }
    Reply link(const std::string& id) { return post(fmt::format("/v1/users/{}/password-link", id), ""); }
    Reply open(const std::string& secret) {
        return call("GET", "/sign-in/password?secret=" + percent_encode(secret));
    }
    Reply set(const std::string& secret, std::string_view password) {
        return post("/sign-in/password",
                    fmt::format("secret={}&newPassword={}", percent_encode(secret), percent_encode(password)),
                    "");
    }
};

TEST_F(BrowserPassword, ALinkSetsAPasswordOnce) {
    const std::string id = user("ann@example.com");
    const std::string before = session("ann@example.com");
    const Reply made = link(id);
    const std::string secret = made.at("secret");
    EXPECT_EQ(made.at("link"), "https://gpu.example.com/sign-in/password?secret=" + secret);
    const Reply page = open(secret);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.text, HasSubstr("<h1>Set a password</h1>"));
    EXPECT_THAT(page.text, HasSubstr(R"(value="ann@example.com" autocomplete="username")"));
    EXPECT_THAT(page.text, HasSubstr(R"(autocomplete="new-password")"));
    EXPECT_EQ(whoami(before), 200) << "looking changes nothing";
    const Reply done = set(secret, "battery staple");
    ASSERT_EQ(done.status, 200) << done.text;
    EXPECT_THAT(done.text, HasSubstr("hostler login --browser --api https://gpu.example.com<"));
    EXPECT_THAT(done.text, Not(HasSubstr(secret)));
    EXPECT_EQ(whoami(before), 401) << "all sessions end";
    EXPECT_EQ(sign_in("ann@example.com", "battery staple").status, 200);
    EXPECT_EQ(sign_in("ann@example.com").status, 401);
    EXPECT_FALSE(anywhere_in_store("battery staple"));
    const auto line = std::ranges::find_if(store.lines, [&](const AuditLine& one) {
        return one.operation == "resetPassword" && one.client == "tester/1" && one.subject == "user/" + id;
    });
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->actor, "user/" + id);
    EXPECT_EQ(line->address, address);
    EXPECT_EQ(set(secret, "another horse").status, 404);
    EXPECT_EQ(sign_in("ann@example.com", "battery staple").status, 200);
}

TEST_F(BrowserPassword, TheFirstPasswordIsSetTheSameWay) {
    const Reply made = post("/v1/users", R"({"login":"bob","tenantID":"acme"})");
    EXPECT_EQ(made.at("link"), "https://gpu.example.com/sign-in/password?secret=" + made.at("secret"));
    EXPECT_EQ(set(made.at("secret"), good_password).status, 200);
    EXPECT_EQ(sign_in("bob").status, 200);
}

TEST_F(BrowserPassword, ThePageIsSafeToShow) {
    const std::string id = user("ann");
    for (const Reply& page : {open(link(id).at("secret")), open("hp_guess"), open("")}) {
        EXPECT_THAT(page.text, HasSubstr("Referrer-Policy: same-origin\r\n"));
        EXPECT_THAT(page.text, HasSubstr("Cache-Control: no-store\r\n"));
        EXPECT_THAT(page.text, HasSubstr("default-src 'none'"));
        EXPECT_THAT(page.text, Not(HasSubstr("<script")));
    }
    EXPECT_THAT(set("\"><script>", good_password).text, Not(HasSubstr("<script")));
}

TEST_F(BrowserPassword, SecretsThatAreNotGoodAreAlike) {
    const auto body = [](const Reply& reply) { return reply.text.substr(reply.text.find("\r\n\r\n")); };
    const std::string id = user("ann");
    const std::string used = link(id).at("secret");
    EXPECT_EQ(set(used, good_password).status, 200);
    const std::string disabled = link(user("bob")).at("secret");
    EXPECT_EQ(post("/v1/users/bob/disable", "").status, 200);
    const std::string ended = link(id).at("secret");
    timers.advance(25h);
    const int before = passwords.asked;
    std::set<std::string> answers;
    for (const std::string& secret :
         {used, disabled, ended, std::string{"hp_guess"}, std::string{}, std::string(1'000, 'x')})
        for (const Reply& page : {open(secret), set(secret, "battery staple"), set(secret, "")}) {
            EXPECT_EQ(page.status, 404) << secret;
            answers.insert(body(page));
        }
    EXPECT_EQ(answers.size(), 1u);
    EXPECT_EQ(passwords.asked, before) << "nothing is hashed for them";
}

TEST_F(BrowserPassword, AWrongPasswordIsToldAndTheLinkIsGoodStill) {
    const std::string secret = link(user("annabelle.bell")).at("secret");
    for (const std::string& password :
         {std::string{"short"}, std::string{"Annabelle.Bell"}, std::string(257, 'x'), std::string{}}) {
        const Reply wrong = set(secret, password);
        EXPECT_EQ(wrong.status, 400) << password;
        EXPECT_THAT(wrong.text, HasSubstr(R"(id="newPassword-wrong")"));
        EXPECT_THAT(wrong.text, HasSubstr(fmt::format(R"(name="secret" value="{}")", secret)));
    }
    EXPECT_THAT(set(secret, "annabelle.bell").text, HasSubstr("must not be the login"));
    EXPECT_EQ(set(secret, "battery staple").status, 200) << "it was not used up";
}

TEST_F(BrowserPassword, APageOfAnotherOriginSetsNone) {
    const std::string secret = link(user("ann")).at("secret");
    for (const char* from : {"Sec-Fetch-Site: cross-site\r\n", "Origin: https://evil.example\r\n",
                             "Sec-Fetch-Site: cross-site\r\nOrigin: null\r\n", "Origin: null\r\n"}) {
        headers = from;
        EXPECT_EQ(set(secret, "battery staple").status, 403) << from;
    }
    headers.clear();
    EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(BrowserPassword, StrangersAreHeldToTheirRate) {
    settings.admission.stranger_rate = {.per_second = 0.01, .burst = 2};
    Front slow{ports, settings, lead};
    TaskGroup group{loop};
    const auto ask = [&] {
        auto [ours, theirs] = hostler::testing::memory_pair(1 << 20, "server", address);
        group.start("slow", slow.serve(std::move(ours)));
        const std::string text = "GET /sign-in/password?secret=hp_guess HTTP/1.1\r\nHost: api\r\n\r\n";
        EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, std::string{text})));
        timers.settle();
        return reply_in(clients.emplace_back(std::move(theirs))->unread()).status;
    };
    EXPECT_EQ(ask(), 404);
    EXPECT_EQ(ask(), 404);
    EXPECT_EQ(ask(), 429);
    clients.clear();
    (void)hostler::testing::try_run(loop, group.close());
}

TEST_F(BrowserPassword, WithoutAPublicAddressThereIsNoLink) {
    const std::string id = user("ann");
    settings.public_url_guessed = true;
    EXPECT_THAT(link(id).text, Not(HasSubstr("\"link\"")));
    settings.public_url_guessed = false;
    settings.public_url.clear();
    const Reply made = link(id);
    EXPECT_THAT(made.text, Not(HasSubstr("\"link\"")));
    EXPECT_THAT(open(made.at("secret")).text, HasSubstr("http://api")) << "the page works all the same";
}

}  // namespace
}  // namespace hostler::master::testing

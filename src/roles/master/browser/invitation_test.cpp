// The page where an invited person becomes a user.
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct BrowserInvitation : PeopleTest {
    BrowserInvitation() {
        settings.public_url = "https://gpu.example.com/";
        headers = "Sec-Fetch-Site: same-origin\r\n";
    }
    Reply invite(const std::string& more = "", std::string_view secret = root) {
        const Reply made =
            post("/v1/invitations", fmt::format(R"({{"role":"member","tenantID":"acme"{}}})", more), secret);
        EXPECT_EQ(made.status, 201) << made.text;
        return made;
    }
    Reply open(const std::string& secret) {
        return call("GET", "/sign-in/invitation?secret=" + percent_encode(secret));
    }
    Reply join(const std::string& secret, const std::string& login, std::string_view password = good_password,
               const std::string& name = "Ann Bell") {
        return post("/sign-in/invitation",
                    fmt::format("secret={}&login={}&name={}&password={}", percent_encode(secret),
                                percent_encode(login), percent_encode(name), percent_encode(password)),
                    "");
    }
    std::size_t users() { return desk().estate.users.all().size(); }
};

TEST_F(BrowserInvitation, ALinkMakesAUserOnce) {
    const Reply made = invite(R"(,"login":"ann@example.com","email":"ann@example.com")");
    const std::string secret = made.at("secret");
    EXPECT_EQ(made.at("link"), "https://gpu.example.com/sign-in/invitation?secret=" + secret);
    const Reply page = open(secret);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.text, HasSubstr("<h1>Join tenant acme as member</h1>"));
    EXPECT_THAT(page.text, HasSubstr("An admin invites you"));
    EXPECT_THAT(page.text, HasSubstr(R"(value="ann@example.com" autocomplete="username")"));
    EXPECT_THAT(page.text, HasSubstr(R"(autocomplete="new-password")"));
    EXPECT_THAT(page.text, HasSubstr("hostler invitation accept --api https://gpu.example.com"));
    EXPECT_EQ(users(), 0u) << "looking accepts nothing";
    const Reply done = join(secret, "Ann@example.com");
    ASSERT_EQ(done.status, 200) << done.text;
    EXPECT_THAT(done.text, HasSubstr("hostler login --browser --api https://gpu.example.com<"));
    EXPECT_EQ(get("/v1/users/ann@example.com").at("name"), "Ann Bell");
    EXPECT_EQ(get("/v1/users/ann@example.com").at("email"), "ann@example.com");
    EXPECT_EQ(sign_in("ann@example.com").status, 200);
    EXPECT_FALSE(anywhere_in_store(good_password));
    EXPECT_EQ(std::ranges::count(store.log, "accepted", &EventRecord::reason), 1);
    const auto line = std::ranges::find(store.lines, "acceptInvitation", &AuditLine::operation);
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->actor, "stranger");
    EXPECT_EQ(line->address, address);
    EXPECT_EQ(line->client, "tester/1");
    EXPECT_EQ(join(secret, "eve").status, 404);
    EXPECT_EQ(users(), 1u);
}

TEST_F(BrowserInvitation, ThePageIsSafeToShow) {
    for (const Reply& page : {open(invite().at("secret")), open("hi_guess"), open("")}) {
        EXPECT_THAT(page.text, HasSubstr("Referrer-Policy: same-origin\r\n"));
        EXPECT_THAT(page.text, HasSubstr("Cache-Control: no-store\r\n"));
        EXPECT_THAT(page.text, HasSubstr("default-src 'none'"));
        EXPECT_THAT(page.text, Not(HasSubstr("<script")));
    }
    const Reply evil = join(invite().at("secret"), "\"><script>", good_password, "<script>");
    EXPECT_EQ(evil.status, 400);
    EXPECT_THAT(evil.text, Not(HasSubstr("<script")));
}

TEST_F(BrowserInvitation, SaysWhoInvitesToWhat) {
    const auto made = [&](const std::string& body, std::string_view by = root) {
        return open(post("/v1/invitations", body, by).at("secret")).text;
    };
    EXPECT_THAT(made(R"({"role":"operator","cloud":true})"), HasSubstr("<h1>Join the cloud as operator<"));
    const Reply boss = post("/v1/invitations", R"({"role":"tenant-admin","tenantID":"acme"})");
    EXPECT_EQ(join(boss.at("secret"), "bo", good_password, "Bo & Co").status, 200);
    const std::string page =
        made(R"({"role":"member","tenantID":"acme","project":"default"})", session("bo"));
    EXPECT_THAT(page, HasSubstr("<h1>Join tenant acme as member of project default</h1>"));
    EXPECT_THAT(page, HasSubstr("Bo &amp; Co (bo) invites you"));
}

TEST_F(BrowserInvitation, SecretsThatAreNotGoodAreAlike) {
    const auto body = [](const Reply& reply) { return reply.text.substr(reply.text.find("\r\n\r\n")); };
    const std::string used = invite().at("secret");
    EXPECT_EQ(join(used, "ann").status, 200);
    const Reply revoked = invite();
    EXPECT_EQ(call("DELETE", "/v1/invitations/" + revoked.at("id"), "", root).status, 200);
    const std::string ended = invite(R"(,"ttlSeconds":3600)").at("secret");
    timers.advance(3601s);
    const int before = passwords.asked;
    std::set<std::string> answers;
    for (const std::string& secret :
         {used, revoked.at("secret"), ended, std::string{"hi_guess"}, std::string{}, std::string(1'000, 'x')})
        for (const Reply& page : {open(secret), join(secret, "eve"), join(secret, "")}) {
            EXPECT_EQ(page.status, 404) << secret;
            answers.insert(body(page));
        }
    EXPECT_EQ(answers.size(), 1u);
    EXPECT_EQ(passwords.asked, before) << "nothing is hashed for them";
    EXPECT_EQ(users(), 1u);
}

TEST_F(BrowserInvitation, AllWrongFieldsAreShownAtOnceAndOnlyThePasswordIsLost) {
    const std::string secret = invite(R"(,"login":"ann")").at("secret");
    const Reply wrong = join(secret, "a b", "short", "Ann Bell");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.text, HasSubstr(R"(id="login-wrong")"));
    EXPECT_THAT(wrong.text, HasSubstr(R"(id="password-wrong")"));
    EXPECT_THAT(wrong.text, Not(HasSubstr(R"(id="name-wrong")")));
    EXPECT_THAT(wrong.text, HasSubstr(R"(value="a b")"));
    EXPECT_THAT(wrong.text, HasSubstr(R"(value="Ann Bell")"));
    EXPECT_THAT(wrong.text, HasSubstr(fmt::format(R"(name="secret" value="{}")", secret)));
    EXPECT_THAT(wrong.text, Not(HasSubstr("short")));
    EXPECT_THAT(join(secret, "", good_password).text, HasSubstr(R"(id="login-wrong")"))
        << "an emptied field is not the suggestion";
    EXPECT_THAT(join(secret, "Annabelle.Bell", "annabelle.bell").text, HasSubstr("must not be the login"));
    EXPECT_THAT(join(secret, "ann", std::string(257, 'x')).text, HasSubstr(R"(id="password-wrong")"));
    EXPECT_THAT(join(secret, "ann", good_password, "a\nb").text, HasSubstr(R"(id="name-wrong")"));
    user("bob");
    const Reply taken = join(secret, "Bob");
    EXPECT_EQ(taken.status, 409);
    EXPECT_THAT(taken.text, HasSubstr("The login is taken"));
    EXPECT_THAT(taken.text, Not(HasSubstr("correct horse")));
    EXPECT_EQ(join(secret, "ann").status, 200) << "it was not used up";
}

TEST_F(BrowserInvitation, APageOfAnotherOriginJoinsNobody) {
    const std::string secret = invite().at("secret");
    for (const char* from : {"Sec-Fetch-Site: cross-site\r\n", "Origin: https://evil.example\r\n",
                             "Sec-Fetch-Site: cross-site\r\nOrigin: null\r\n", "Origin: null\r\n"}) {
        headers = from;
        EXPECT_EQ(join(secret, "ann").status, 403) << from;
    }
    EXPECT_EQ(users(), 0u);
}

TEST_F(BrowserInvitation, StrangersAreHeldToTheirRate) {
    settings.admission.stranger_rate = {.per_second = 0.01, .burst = 2};
    Front slow{ports, settings, lead};
    TaskGroup group{loop};
    const auto ask = [&] {
        auto [ours, theirs] = hostler::testing::memory_pair(1 << 20, "server", address);
        group.start("slow", slow.serve(std::move(ours)));
        const std::string text = "GET /sign-in/invitation?secret=hi_guess HTTP/1.1\r\nHost: api\r\n\r\n";
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

TEST_F(BrowserInvitation, ARequiredSecondFactorIsTheNextStep) {
    settings.require_totp = true;
    EXPECT_THAT(join(invite().at("secret"), "ann").text, HasSubstr("hostler totp enrol"));
}

TEST_F(BrowserInvitation, WithoutAPublicAddressThereIsNoLink) {
    settings.public_url_guessed = true;
    EXPECT_THAT(invite().text, Not(HasSubstr("\"link\"")));
    settings.public_url_guessed = false;
    settings.public_url.clear();
    const Reply made = invite();
    EXPECT_THAT(made.text, Not(HasSubstr("\"link\"")));
    EXPECT_THAT(open(made.at("secret")).text, HasSubstr("http://api")) << "the page works all the same";
}

}  // namespace
}  // namespace hostler::master::testing

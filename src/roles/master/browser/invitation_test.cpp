// The page where an invited person becomes a user.
#include "roles/master/testing/link_page_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct BrowserInvitation : LinkPageTest {
    BrowserInvitation() : LinkPageTest("/sign-in/invitation", "hi_guess") {}
    Reply invite(const std::string& more = "", std::string_view secret = root) {
        const Reply made =
            post("/v1/invitations", fmt::format(R"({{"role":"member","tenantID":"acme"{}}})", more), secret);
        EXPECT_EQ(made.status, 201) << made.text;
        return made;
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
    EXPECT_THAT(done.text, HasSubstr(fmt::format("X-Request-Id: {}\r\n", line->request)));
    EXPECT_EQ(join(secret, "eve").status, 404);
    EXPECT_EQ(users(), 1u);
}

TEST_F(BrowserInvitation, ThePageIsSafeToShow) {
    for (const Reply& page : {open(invite().at("secret")), open("hi_guess"), open("")})
        expect_safe_to_show(page);
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
    const std::string used = invite().at("secret");
    EXPECT_EQ(join(used, "ann").status, 200);
    const Reply revoked = invite();
    EXPECT_EQ(call("DELETE", "/v1/invitations/" + revoked.at("id"), "", root).status, 200);
    const std::string ended = invite(R"(,"ttlSeconds":3600)").at("secret");
    timers.advance(3601s);
    expect_alike_and_nothing_hashed(
        {used, revoked.at("secret"), ended, "hi_guess", "", std::string(1'000, 'x')},
        [&](const std::string& secret) {
            return std::vector{open(secret), join(secret, "eve"), join(secret, "")};
        });
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
    expect_no_other_origin([&] { return join(secret, "ann"); });
    EXPECT_EQ(users(), 0u);
}

TEST_F(BrowserInvitation, StrangersAreHeldToTheirRate) { expect_rate_of_strangers(); }

TEST_F(BrowserInvitation, ARequiredSecondFactorIsTheNextStep) {
    settings.require_totp = true;
    EXPECT_THAT(join(invite().at("secret"), "ann").text, HasSubstr("hostler totp enrol"));
}

TEST_F(BrowserInvitation, WithoutAPublicAddressThereIsNoLink) {
    expect_a_link_of_public_addresses_alone([&] { return invite(); });
}

}  // namespace
}  // namespace hostler::master::testing

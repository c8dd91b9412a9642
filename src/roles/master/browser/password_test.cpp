// The page where a person sets a password with the secret of a link.
#include "roles/master/testing/link_page_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct BrowserPassword : LinkPageTest {
    BrowserPassword() : LinkPageTest("/sign-in/password", "hp_guess") {}
    Reply link(const std::string& id) { return post(fmt::format("/v1/users/{}/password-link", id), ""); }
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
        return done.text.contains(fmt::format("X-Request-Id: {}\r\n", one.request));
    });
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->operation, "resetPassword");
    EXPECT_EQ(line->subject, "user/" + id);
    EXPECT_EQ(line->actor, "user/" + id);
    EXPECT_EQ(line->client, "tester/1");
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
    for (const Reply& page : {open(link(id).at("secret")), open("hp_guess"), open("")})
        expect_safe_to_show(page);
    EXPECT_THAT(set("\"><script>", good_password).text, Not(HasSubstr("<script")));
}

TEST_F(BrowserPassword, SecretsThatAreNotGoodAreAlike) {
    const std::string id = user("ann");
    const std::string used = link(id).at("secret");
    EXPECT_EQ(set(used, good_password).status, 200);
    const std::string disabled = link(user("bob")).at("secret");
    EXPECT_EQ(post("/v1/users/bob/disable", "").status, 200);
    const std::string ended = link(id).at("secret");
    timers.advance(25h);
    expect_alike_and_nothing_hashed(
        {used, disabled, ended, "hp_guess", "", std::string(1'000, 'x')}, [&](const std::string& secret) {
            return std::vector{open(secret), set(secret, "battery staple"), set(secret, "")};
        });
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
    expect_no_other_origin([&] { return set(secret, "battery staple"); });
    EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(BrowserPassword, StrangersAreHeldToTheirRate) { expect_rate_of_strangers(); }

TEST_F(BrowserPassword, WithoutAPublicAddressThereIsNoLink) {
    const std::string id = user("ann");
    expect_a_link_of_public_addresses_alone([&] { return link(id); });
}

}  // namespace
}  // namespace hostler::master::testing

// Users and invitations, over HTTP.
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct PeopleUsers : PeopleTest {
    PeopleUsers() {
        desk().estate.api_keys.add({.id = "k-1", .name = "ci", .hash = "#hk_acme", .tenant = "acme"});
        (void)commit();
    }
    Reply invite(const std::string& fields = R"("role":"member","tenantID":"acme")",
                 std::string_view secret = root) {
        return post("/v1/invitations", "{" + fields + "}", secret);
    }
    Reply accept(const std::string& secret, const std::string& login,
                 std::string_view password = good_password) {
        return post("/v1/invitations/accept",
                    fmt::format(R"({{"secret":"{}","login":"{}","password":"{}"}})", secret, login, password),
                    "");
    }
};

TEST_F(PeopleUsers, AreMadeWithoutAPassword) {
    const Reply made = post("/v1/users", R"({"login":"Ann@Example.com","name":"Ann","tenantID":"acme"})");
    ASSERT_EQ(made.status, 201) << made.text;
    EXPECT_EQ(made.at("login"), "ann@example.com");
    const Reply shown = get("/v1/users/ann@example.com");
    EXPECT_EQ(shown.at("state"), "enabled");
    EXPECT_FALSE(shown.body.at("hasPassword").as_bool());
    EXPECT_EQ(post("/v1/users", R"({"login":"ANN@example.com"})").code(), "login_exists");
    EXPECT_EQ(post("/v1/users", R"({"login":"a b"})").status, 400);
    EXPECT_EQ(get("/v1/users/" + made.at("id")).at("name"), "Ann");
    EXPECT_EQ(
        call("PATCH", "/v1/users/ann@example.com", R"({"name":"Ann Bell","email":"a@example.com"})", root)
            .at("name"),
        "Ann Bell");
    EXPECT_THAT(get("/v1/users/ann@exmple.com").at("detail"), HasSubstr("there is no user"));
}

TEST_F(PeopleUsers, AreSeenByThoseWhoMay) {
    user("ann");
    user("root", "");
    EXPECT_EQ(get("/v1/users").items(), 2u);
    EXPECT_EQ(get("/v1/users?tenantID=acme").items(), 1u);
    EXPECT_EQ(get("/v1/users", session("ann")).status, 403);
    // A tenant's key sees those of its tenant, and changes none.
    EXPECT_EQ(get("/v1/users", "hk_acme").items(), 1u);
    EXPECT_EQ(get("/v1/users/root", "hk_acme").status, 404);
    EXPECT_EQ(post("/v1/users", R"({"login":"eve"})", "hk_acme").status, 403);
}

TEST_F(PeopleUsers, DisablingEndsEverySession) {
    const std::string id = user("ann");
    const std::string one = session("ann"), two = session("ann");
    EXPECT_EQ(post(fmt::format("/v1/users/{}/disable", id), "").at("state"), "disabled");
    EXPECT_EQ(whoami(one), 401);
    EXPECT_EQ(whoami(two), 401);
    EXPECT_EQ(sign_in("ann").status, 401);
    EXPECT_EQ(post(fmt::format("/v1/users/{}/password-link", id), "").code(), "user_disabled");
    EXPECT_EQ(get("/v1/users?state=disabled").items(), 1u);
    EXPECT_EQ(post(fmt::format("/v1/users/{}/enable", id), "").at("state"), "enabled");
    EXPECT_EQ(whoami(one), 401);  // What has ended stays so.
    EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(PeopleUsers, RemovingTakesAllThatWasTheirs) {
    const std::string id = user("ann");
    const std::string secret = session("ann");
    (void)post(fmt::format("/v1/users/{}/password-link", id), "");
    EXPECT_EQ(call("DELETE", "/v1/users/ann", "", root).status, 200);
    EXPECT_EQ(whoami(secret), 401);
    EXPECT_TRUE(desk().estate.logins.all().empty());
    EXPECT_TRUE(desk().estate.password_links.all().empty());
    EXPECT_EQ(get("/v1/users/ann").status, 404);
    EXPECT_NE(user("ann"), id);  // The login is free.
}

TEST_F(PeopleUsers, AnInvitationMakesAUserOnce) {
    const Reply made = invite(R"("role":"member","tenantID":"acme","email":"ann@example.com")");
    ASSERT_EQ(made.status, 201) << made.text;
    EXPECT_EQ(get("/v1/invitations").items(), 1u);
    const Reply done = accept(made.at("secret"), "Ann");
    ASSERT_EQ(done.status, 201) << done.text;
    EXPECT_EQ(done.at("role"), "member");
    EXPECT_EQ(done.at("login"), "ann");
    EXPECT_EQ(get("/v1/users/ann").at("email"), "ann@example.com");
    EXPECT_EQ(get("/v1/users/ann").at("tenantID"), "acme");
    EXPECT_EQ(sign_in("ann").status, 200);
    EXPECT_EQ(accept(made.at("secret"), "eve").code(), "invitation_unknown");
    EXPECT_EQ(get("/v1/invitations").items(), 0u);
}

TEST_F(PeopleUsers, AnInvitationNamesAllThatIsWrong) {
    const Reply made = invite();
    const Reply bare =
        post("/v1/invitations/accept", fmt::format(R"({{"secret":"{}"}})", made.at("secret")), "");
    EXPECT_EQ(bare.status, 400);
    EXPECT_THAT(bare.text, HasSubstr("\"login\""));
    EXPECT_THAT(bare.text, HasSubstr("\"password\""));
    user("bob");
    EXPECT_EQ(accept(made.at("secret"), "bob").code(), "login_exists");
    EXPECT_EQ(accept(made.at("secret"), "ann").status, 201);  // What was refused has not used it up.
}

TEST_F(PeopleUsers, AnInvitationThatIsUnknownHashesNothing) {
    const int before = passwords.asked;
    EXPECT_EQ(accept("hi_guess", "ann").code(), "invitation_unknown");
    EXPECT_EQ(passwords.asked, before);
}

TEST_F(PeopleUsers, AnInvitationSuggestsALogin) {
    const Reply made = invite(R"("role":"viewer","tenantID":"acme","login":"ann@example.com")");
    const Reply done =
        post("/v1/invitations/accept",
             fmt::format(R"({{"secret":"{}","password":"correct horse"}})", made.at("secret")), "");
    EXPECT_EQ(done.at("login"), "ann@example.com") << done.text;
}

TEST_F(PeopleUsers, AnInvitationEnds) {
    const Reply made = invite(R"("role":"member","tenantID":"acme","ttlSeconds":3600)");
    timers.advance(3601s);
    EXPECT_EQ(accept(made.at("secret"), "ann").code(), "invitation_unknown");
}

TEST_F(PeopleUsers, AnInvitationIsRevoked) {
    const Reply made = invite();
    EXPECT_EQ(call("DELETE", "/v1/invitations/" + made.at("id"), "", "hk_acme").status, 403);
    EXPECT_EQ(call("DELETE", "/v1/invitations/" + made.at("id"), "", root).status, 200);
    EXPECT_EQ(accept(made.at("secret"), "ann").code(), "invitation_unknown");
}

TEST_F(PeopleUsers, AnInvitationOfSomebodyWhoIsGoneIsWorthNothing) {
    const std::string key = post("/v1/api-keys", R"({"name":"boss","isOperator":true})").at("secret");
    const Reply made = invite(R"("role":"member","tenantID":"acme")", key);
    ASSERT_EQ(made.status, 201) << made.text;
    const std::string id = get("/v1/whoami", key).at("actor").substr(4);
    EXPECT_EQ(call("DELETE", "/v1/api-keys/" + id, "", root).status, 200);
    EXPECT_EQ(accept(made.at("secret"), "ann").code(), "invitation_unknown");
}

TEST_F(PeopleUsers, AnInvitationGivesNoMoreThanItsMakerHas) {
    EXPECT_EQ(invite(R"("role":"membr","tenantID":"acme")").status, 400);
    EXPECT_THAT(invite(R"("role":"membr","tenantID":"acme")").text, HasSubstr("did you mean member?"));
    EXPECT_EQ(invite(R"("role":"operator","tenantID":"acme")").status, 400);  // It counts in the cloud alone.
    EXPECT_EQ(invite(R"("role":"operator","cloud":true)").status, 201);
    EXPECT_EQ(invite(R"("role":"member")").status, 400) << "an operator says where";
    EXPECT_EQ(invite(R"("role":"member","provider":"farm")").status, 400);
    const Reply wrong = invite(R"("role":"provider","provider":"farm","tenantID":"acme","cloud":true)");
    EXPECT_THAT(wrong.text, HasSubstr("\"cloud\""));
    EXPECT_THAT(wrong.text, HasSubstr("\"provider\""));
    EXPECT_EQ(invite(R"("role":"member","project":"web")").status, 400);
    EXPECT_EQ(invite(R"("role":"member","tenantID":"acme")", "hk_acme").status, 403);
}

TEST_F(PeopleUsers, WhoIsSignedInGetsTheRole) {
    const std::string id = user("ann");
    const std::string secret = session("ann");
    const Reply made = invite(R"("role":"viewer","tenantID":"other")");
    const Reply wrong = post("/v1/invitations/accept",
                             fmt::format(R"({{"secret":"{}","login":"eve"}})", made.at("secret")), secret);
    EXPECT_EQ(wrong.status, 400);
    const Reply done =
        post("/v1/invitations/accept", fmt::format(R"({{"secret":"{}"}})", made.at("secret")), secret);
    EXPECT_EQ(done.at("userID"), id) << done.text;
    EXPECT_EQ(done.at("tenantID"), "other");
    EXPECT_EQ(get("/v1/users").items(), 1u);
    // A key is no person.
    const Reply another = invite();
    EXPECT_EQ(
        post("/v1/invitations/accept", fmt::format(R"({{"secret":"{}"}})", another.at("secret"))).code(),
        "not_a_person");
}

}  // namespace
}  // namespace hostler::master::testing

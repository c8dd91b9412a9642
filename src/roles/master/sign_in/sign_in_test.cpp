// Signing in, sessions, passwords and second factors, over HTTP.
#include "domain/tenancy/totp.h"
#include "roles/master/sign_in/throttle.h"
#include "roles/master/state/retention.h"
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct PeopleSignIn : PeopleTest {
    std::string code_of(const std::string& login, int steps = 0) {
        const User& user = *desk().estate.users.by().login.first(login);
        return totp_code(base32_bytes(user.totp).value(),
                         timers.wall().time_since_epoch().count() / 30'000'000 + steps);
    }
    // Recovery codes of a user who has a second factor by then.
    std::vector<std::string> enrol(const std::string& login, const std::string& secret) {
        EXPECT_EQ(post("/v1/totp", "{}", secret).status, 201);
        const Reply done =
            post("/v1/totp/confirm", fmt::format(R"({{"code":"{}"}})", code_of(login)), secret);
        EXPECT_EQ(done.status, 200) << done.text;
        std::vector<std::string> codes;
        for (const auto& code : done.body.at("recoveryCodes").as_array())
            codes.emplace_back(code.as_string());
        return codes;
    }
};

TEST_F(PeopleSignIn, ASessionIsACredentialOfItsUser) {
    const std::string id = user("ann@example.com");
    const Reply made = sign_in("Ann@Example.com");
    ASSERT_EQ(made.status, 200) << made.text;
    EXPECT_EQ(made.at("userID"), id);
    EXPECT_TRUE(made.at("secret").starts_with("hu_"));
    const Reply who = get("/v1/whoami", made.at("secret"));
    EXPECT_EQ(who.status, 200);
    EXPECT_EQ(who.at("actor"), "user/" + id);
    EXPECT_EQ(who.at("tenantID"), "acme");
    EXPECT_EQ(get("/v1/users", made.at("secret")).code(), "permission_missing");
    const auto line = std::ranges::find(store.lines, "signIn", &AuditLine::operation);
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->actor, "user/" + id);
    EXPECT_EQ(line->address, "203.0.113.7:5000");
}

TEST_F(PeopleSignIn, WhetherAnAccountExistsIsNotVisible) {
    user("ann");
    const std::string disabled = user("bob");
    EXPECT_EQ(post(fmt::format("/v1/users/{}/disable", disabled), "").status, 200);
    const Reply made = post("/v1/users", R"({"login":"new"})");  // Without a password.
    ASSERT_EQ(made.status, 201);
    std::set<std::string> answers;
    for (const char* login : {"ann", "bob", "new", "nobody", "!"}) {
        const int before = passwords.asked;
        const Reply reply = sign_in(login, "wrong horses");
        EXPECT_EQ(reply.status, 401) << login;
        EXPECT_EQ(reply.code(), "sign_in_failed");
        EXPECT_EQ(passwords.asked, before + 1) << login;  // And so they take as long.
        answers.insert(without_request(boost::json::serialize(reply.body)));
    }
    EXPECT_EQ(answers.size(), 1u);
    EXPECT_EQ(sign_in("bob").code(), "sign_in_failed");
}

TEST_F(PeopleSignIn, InADisabledTenantNobodySignsIn) {
    user("ann");
    ASSERT_EQ(post("/v1/tenants/acme/disable", "").status, 200);
    EXPECT_EQ(sign_in("ann").code(), "sign_in_failed");
    ASSERT_EQ(post("/v1/tenants/acme/enable", "").status, 200);
    EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(PeopleSignIn, PasswordsAndSecretsAreNowhere) {
    user("ann");
    const std::string secret = session("ann");
    const Reply reply = call("POST", "/v1/password",
                             R"({"oldPassword":"correct horse","newPassword":"battery staple"})", secret);
    EXPECT_EQ(reply.status, 200) << reply.text;
    for (const std::string& text : {std::string{"correct horse"}, std::string{"battery staple"}})
        EXPECT_FALSE(anywhere_in_store(text)) << text;
    const Reply wrong = post("/v1/password-reset", R"({"secret":"hp_x","newPassword":"tooshort"})", "");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.text, Not(HasSubstr("tooshort")));
    // A hash would tell whether a guess is right: it is sealed.
    EXPECT_FALSE(anywhere_in_store(desk().estate.users.by().login.first("ann")->password));
}

TEST_F(PeopleSignIn, StrangersMayCallOpenOperationsAlone) {
    EXPECT_EQ(post("/v1/users", R"({"login":"ann"})", "").status, 401);
    EXPECT_EQ(post("/v1/sign-out", "{}", "").status, 401);
    EXPECT_EQ(get("/v1/sessions", "").status, 401);
    // Also with a credential that has ended.
    user("ann");
    EXPECT_EQ(post("/v1/sign-in", sign_in_body("ann", good_password), "hu_gone").status, 200);
    const std::string large(20'000, 'x');
    EXPECT_EQ(post("/v1/sign-in", sign_in_body("ann", large), "").status, 413);
}

TEST_F(PeopleSignIn, AnIdempotencyKeyOfAStrangerIsNoWayToAnAnswer) {
    user("ann");
    headers = "Idempotency-Key: k\r\n";
    const std::string first = session("ann");
    EXPECT_NE(session("ann"), first);
    // Neither is a digest of a password kept.
    EXPECT_EQ(post("/v1/password", R"({"oldPassword":"correct horse","newPassword":"battery staple"})", first)
                  .status,
              200);
    EXPECT_TRUE(desk().estate.answers.all().empty());
}

TEST_F(PeopleSignIn, AttemptsAreSlowedAndThenRefused) {
    settings.sign_in.account_rate = {.per_second = 0.5, .burst = 2};
    user("ann");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(sign_in("ann", "wrong horses").status, 401);
    // The next two wait for 2 s and 4 s, the one behind them would wait longer than one may.
    auto& third = send("POST", "/v1/sign-in", sign_in_body("ann", "wrong horses"), "");
    auto& fourth = send("POST", "/v1/sign-in", sign_in_body("ann", good_password), "");
    const Reply fifth = sign_in("ann");
    EXPECT_EQ(fifth.status, 429);
    EXPECT_EQ(fifth.code(), "too_many_sign_ins");
    EXPECT_THAT(fifth.text, HasSubstr("Retry-After"));
    EXPECT_EQ(reply_in(third.unread()).status, 0);
    timers.advance(2s);
    EXPECT_EQ(reply_in(third.unread()).status, 401);
    timers.advance(2s);
    EXPECT_EQ(reply_in(fourth.unread()).status, 200);
    // Nobody is locked out: who comes a little later is let in.
    timers.advance(10s);
    EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(PeopleSignIn, AnUnknownLoginIsSlowedAsAKnownOneIs) {
    settings.sign_in.account_rate = {.per_second = 0.01, .burst = 2};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(sign_in("nobody", "wrong horses").status, 401);
    EXPECT_EQ(sign_in("nobody", "wrong horses").status, 429);
    EXPECT_EQ(sign_in("Nobody", "wrong horses").status, 429);
}

TEST_F(PeopleSignIn, WhoTriesManyLoginsIsSlowedByAddress) {
    settings.sign_in.address_rate = {.per_second = 0.01, .burst = 3};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(sign_in(fmt::format("u{}", i), "wrong horses").status, 401);
    EXPECT_EQ(sign_in("u9", "wrong horses").status, 429);
    address = "203.0.113.8:5000";
    EXPECT_EQ(sign_in("u9", "wrong horses").status, 401);
}

TEST_F(PeopleSignIn, StrangersDoNotSlowSomebodyDownWhereTheyAreSignedIn) {
    settings.sign_in.account_rate = {.per_second = 0.01, .burst = 2};
    user("ann");
    session("ann");
    address = "198.51.100.9:5000";
    while (sign_in("ann", "wrong horses").status == 401) continue;
    EXPECT_EQ(sign_in("ann").status, 429);
    address = "203.0.113.7:6000";
    EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(PeopleSignIn, TheRightPasswordCostsNothing) {
    settings.sign_in.account_rate = {.per_second = 0.01, .burst = 2};
    user("ann");
    for (int i = 0; i < 6; ++i) EXPECT_EQ(sign_in("ann").status, 200);
}

TEST_F(PeopleSignIn, TooManyHashesAtOnceAreRefused) {
    user("ann");
    passwords.full = true;
    for (const char* login : {"ann", "nobody"}) {
        const Reply reply = sign_in(login);
        EXPECT_EQ(reply.status, 429) << login;
        EXPECT_EQ(reply.code(), "too_many_sign_ins");
    }
}

TEST_F(PeopleSignIn, ASessionEndsWhenItIsIdle) {
    user("ann");
    const std::string secret = session("ann");
    for (int i = 0; i < 5; ++i) {
        timers.advance(11h);
        EXPECT_EQ(whoami(secret), 200) << i;
    }
    timers.advance(12h);
    EXPECT_EQ(whoami(secret), 401);
    forget_what_is_over(desk());
    EXPECT_TRUE(desk().estate.logins.all().empty());
}

TEST_F(PeopleSignIn, ASessionEndsAfterItsLifeHoweverMuchItIsUsed) {
    settings.session_life = 24h;
    user("ann");
    const std::string secret = session("ann");
    timers.advance(10h);
    EXPECT_EQ(whoami(secret), 200);
    timers.advance(10h);
    EXPECT_EQ(whoami(secret), 200);
    timers.advance(4h);
    EXPECT_EQ(whoami(secret), 401);
}

TEST_F(PeopleSignIn, UseIsNotedOnceInSomeMinutes) {
    user("ann");
    const std::string secret = session("ann");
    const auto commits = store.done.size();
    for (int i = 0; i < 10; ++i) whoami(secret);
    EXPECT_EQ(store.done.size(), commits);
    timers.advance(6min);
    for (int i = 0; i < 10; ++i) whoami(secret);
    EXPECT_EQ(store.done.size(), commits + 1);
}

TEST_F(PeopleSignIn, SigningOutEndsThisSessionAlone) {
    user("ann");
    const std::string one = session("ann"), two = session("ann");
    EXPECT_EQ(post("/v1/sign-out", "", one).status, 200);
    EXPECT_EQ(whoami(one), 401);
    EXPECT_EQ(whoami(two), 200);
    EXPECT_EQ(post("/v1/sign-out", "", root).code(), "not_a_person");
}

TEST_F(PeopleSignIn, SessionsAreListedAndRevoked) {
    user("ann");
    user("bob");
    const std::string one = session("ann"), two = session("ann"), bobs = session("bob");
    const Reply list = get("/v1/sessions", one);
    ASSERT_EQ(list.items(), 2u) << list.text;
    std::string other;
    for (const auto& item : list.body.at("items").as_array()) {
        EXPECT_EQ(item.at("address").as_string(), "203.0.113.7");
        EXPECT_THAT(std::string{item.at("client").as_string()}, HasSubstr("tester/1"));
        if (!item.at("current").as_bool()) other = std::string{item.at("id").as_string()};
    }
    const std::string path = "/v1/sessions/" + percent_encode(other);
    EXPECT_EQ(call("DELETE", path, "", bobs).status, 404);
    EXPECT_EQ(get("/v1/sessions?user=ann", bobs).status, 404);
    EXPECT_EQ(call("DELETE", path, "", one).status, 200);
    EXPECT_EQ(whoami(two), 401);
    EXPECT_EQ(whoami(one), 200);
    EXPECT_EQ(get("/v1/sessions").items(), 0u);  // A key has none.
    // An admin sees and ends those of others.
    EXPECT_EQ(get("/v1/sessions?user=bob").items(), 1u);
    const Reply his = get("/v1/sessions?user=bob");
    const std::string id{his.body.at("items").as_array()[0].at("id").as_string()};
    EXPECT_EQ(call("DELETE", "/v1/sessions/" + percent_encode(id), "", root).status, 200);
    EXPECT_EQ(whoami(bobs), 401);
}

TEST_F(PeopleSignIn, OneUserHasSoManySessionsAndTheOldestMakesRoom) {
    user("ann");
    const std::string first = session("ann");
    for (std::size_t i = 0; i < logins_user_max; ++i) {
        timers.advance(1s);
        session("ann");
    }
    EXPECT_EQ(whoami(first), 401);
    EXPECT_EQ(desk().estate.logins.all().size(), logins_user_max);
}

TEST_F(PeopleSignIn, ChangingThePasswordEndsOtherSessions) {
    user("ann");
    const std::string one = session("ann"), two = session("ann");
    const auto change = [&](std::string_view old, std::string_view fresh) {
        return post("/v1/password", fmt::format(R"({{"oldPassword":"{}","newPassword":"{}"}})", old, fresh),
                    one);
    };
    EXPECT_EQ(change("wrong horses", "battery staple").code(), "password_wrong");
    EXPECT_EQ(change("correct horse", "short").status, 400);
    EXPECT_EQ(change("correct horse", "battery staple").status, 200);
    EXPECT_EQ(whoami(one), 200);
    EXPECT_EQ(whoami(two), 401);
    EXPECT_EQ(sign_in("ann").status, 401);
    EXPECT_EQ(sign_in("ann", "battery staple").status, 200);
    EXPECT_EQ(
        post("/v1/password", R"({"oldPassword":"correct horse","newPassword":"battery staple"})").code(),
        "not_a_person");
}

TEST_F(PeopleSignIn, APasswordIsNotTheLogin) {
    const Reply made = post("/v1/users", R"({"login":"ann@example.com"})");
    const Reply refused = reset(made.at("secret"), "Ann@Example.com");
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.text, HasSubstr("must not be the login"));
    EXPECT_EQ(reset(made.at("secret"), "correct horse").status, 200);
}

TEST_F(PeopleSignIn, APasswordLinkIsGoodOnceAndForADay) {
    const std::string id = user("ann");
    const std::string before = session("ann");
    const Reply link = post(fmt::format("/v1/users/{}/password-link", id), "");
    ASSERT_EQ(link.status, 201) << link.text;
    EXPECT_EQ(reset(link.at("secret"), "battery staple").status, 200);
    EXPECT_EQ(whoami(before), 401);
    EXPECT_EQ(sign_in("ann", "battery staple").status, 200);
    EXPECT_EQ(reset(link.at("secret"), "battery staple").code(), "link_unknown");
    const Reply late = post(fmt::format("/v1/users/{}/password-link", id), "");
    timers.advance(25h);
    EXPECT_EQ(reset(late.at("secret"), "battery staple").code(), "link_unknown");
    EXPECT_EQ(reset("hp_guess", "battery staple").code(), "link_unknown");
}

TEST_F(PeopleSignIn, AnUnknownLinkHashesNothing) {
    const int before = passwords.asked;
    EXPECT_EQ(reset("hp_guess", "battery staple").status, 404);
    EXPECT_EQ(passwords.asked, before);
}

TEST_F(PeopleSignIn, ASecondFactorCountsOnceItIsConfirmed) {
    user("ann");
    const std::string secret = session("ann");
    const Reply begun = post("/v1/totp", "{}", secret);
    ASSERT_EQ(begun.status, 201) << begun.text;
    EXPECT_EQ(begun.at("uri"), "otpauth://totp/Hostler:ann?secret=" + begun.at("secret") +
                                   "&issuer=Hostler&algorithm=SHA1&digits=6&period=30");
    EXPECT_EQ(sign_in("ann").status, 200);
    EXPECT_EQ(post("/v1/totp/confirm", R"({"code":"000000"})", secret).status, 400);
    EXPECT_EQ(sign_in("ann").status, 200);
    EXPECT_EQ(post("/v1/totp/confirm", fmt::format(R"({{"code":"{}"}})", code_of("ann")), secret).status,
              200);
    EXPECT_EQ(sign_in("ann").code(), "code_needed");
    EXPECT_EQ(sign_in("ann", "wrong horses").code(), "sign_in_failed");
    EXPECT_EQ(sign_in("ann", good_password, "000000").code(), "sign_in_failed");
    EXPECT_EQ(post("/v1/totp", "{}", secret).code(), "totp_exists");
    // The secret is in no file as it is.
    EXPECT_FALSE(anywhere_in_store(begun.at("secret")));
}

TEST_F(PeopleSignIn, ACodeIsNotTakenTwice) {
    user("ann");
    enrol("ann", session("ann"));
    EXPECT_EQ(sign_in("ann", good_password, code_of("ann")).status, 401);  // It confirmed the factor.
    timers.advance(30s);
    const std::string code = code_of("ann");
    EXPECT_EQ(sign_in("ann", good_password, code).status, 200);
    EXPECT_EQ(sign_in("ann", good_password, code).code(), "sign_in_failed");
    // A wrong password does not use it up.
    timers.advance(30s);
    EXPECT_EQ(sign_in("ann", "wrong horses", code_of("ann")).status, 401);
    EXPECT_EQ(sign_in("ann", good_password, code_of("ann")).status, 200);
}

TEST_F(PeopleSignIn, ARecoveryCodeIsGoodOnce) {
    const std::string id = user("ann");
    const auto codes = enrol("ann", session("ann"));
    ASSERT_EQ(codes.size(), 10u);
    EXPECT_EQ(sign_in("ann", good_password, codes[3]).status, 200);
    EXPECT_EQ(sign_in("ann", good_password, codes[3]).code(), "sign_in_failed");
    EXPECT_EQ(get("/v1/users/" + id).body.at("recoveryCodesLeft").as_int64(), 9);
    EXPECT_EQ(sign_in("ann", good_password, codes[4]).status, 200);
}

TEST_F(PeopleSignIn, ASecondFactorIsRemovedByACodeOrByAnAdmin) {
    const std::string id = user("ann");
    user("bob");
    const std::string secret = session("ann");
    const auto codes = enrol("ann", secret);
    EXPECT_EQ(post("/v1/totp/remove", "{}", secret).code(), "code_needed");
    EXPECT_EQ(post("/v1/totp/remove", R"({"code":"000000"})", secret).code(), "sign_in_failed");
    EXPECT_EQ(post("/v1/totp/remove", fmt::format(R"({{"user":"{}"}})", id), session("bob")).status, 404);
    EXPECT_EQ(post("/v1/totp/remove", fmt::format(R"({{"code":"{}"}})", codes[0]), secret).status, 200);
    EXPECT_EQ(sign_in("ann").status, 200);
    timers.advance(30s);
    enrol("ann", secret);
    EXPECT_EQ(post("/v1/totp/remove", R"({"user":"ann"})").status, 200);
    EXPECT_EQ(sign_in("ann").status, 200);
    EXPECT_EQ(post("/v1/totp/remove", R"({"user":"ann"})").code(), "totp_absent");
}

TEST_F(PeopleSignIn, WhereASecondFactorIsRequiredOnlyItsEnrolmentWorks) {
    user("ann");
    settings.require_totp = true;
    const Reply made = sign_in("ann");
    EXPECT_TRUE(made.body.at("needsTotp").as_bool());
    const std::string secret = made.at("secret");
    EXPECT_EQ(whoami(secret), 200);
    const Reply refused = get("/v1/zones", secret);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.code(), "totp_needed");
    enrol("ann", secret);
    EXPECT_NE(get("/v1/zones", secret).code(), "totp_needed");
    EXPECT_EQ(whoami(std::string{root}), 200);
}

TEST(ThrottleTable, IsBounded) {
    SignInLimits limits;
    limits.peers_max = 100;
    Throttle throttle{limits};
    const Instant now{std::chrono::hours{1}};
    for (int i = 0; i < 5000; ++i)
        (void)throttle.enter(fmt::format("u{}", i), fmt::format("10.0.{}.{}", i / 250, i % 250), false, now);
    EXPECT_LE(throttle.peers(), 200u);
    // Those that find no room share a budget.
    EXPECT_FALSE(throttle.enter("another", "192.0.2.1", false, now));
    EXPECT_TRUE(throttle.enter("another", "192.0.2.1", false, now + 1h));
}

TEST(ThrottleTable, AddressesOfOneNetworkOfIpv6AreOne) {
    SignInLimits limits;
    limits.address_rate = {.per_second = 0.01, .burst = 2};
    Throttle throttle{limits};
    const Instant now{std::chrono::hours{1}};
    EXPECT_TRUE(throttle.enter("a", "[2001:db8::1]:80", false, now));
    EXPECT_TRUE(throttle.enter("b", "[2001:db8::2]:80", false, now));
    EXPECT_FALSE(throttle.enter("c", "[2001:db8::3]:80", false, now));
    EXPECT_TRUE(throttle.enter("c", "[2001:db8:0:1::3]:80", false, now));
}

}  // namespace
}  // namespace hostler::master::testing

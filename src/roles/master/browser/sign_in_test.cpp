// Signing in with a browser: people who open a URL, and command lines that a person confirms.
#include "roles/master/browser/sign_in.h"
#include "domain/tenancy/totp.h"
#include "roles/master/browser/steps.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/people.h"
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct BrowserSignIn : PeopleTest {
    BrowserSignIn() {
        settings.public_url = "http://api";
        desk().estate.gateways.add(
            {.name = "gw-1", .address = "http://localhost:8443", .domain = "localhost"});
        (void)commit();
        headers = "Sec-Fetch-Site: same-origin\r\n";
    }
    // A form of a page, sent.
    Reply form(const std::string& path, const std::vector<std::pair<std::string, std::string>>& fields) {
        std::string body;
        for (const auto& [name, value] : fields)
            body += fmt::format("{}{}={}", body.empty() ? "" : "&", name, percent_encode(value));
        return post(path, body, "");
    }
    Reply password(const std::string& login, std::string_view typed = good_password,
                   const std::string& target = {}) {
        return form("/sign-in", {{"target", target.empty() ? "gateway:" + to : target},
                                 {"login", login},
                                 {"password", std::string{typed}}});
    }
    Reply code_form(const std::string& step, const std::string& code) {
        return form("/sign-in", {{"step", step}, {"code", code}});
    }
    static std::string between(const std::string& text, std::string_view begin, std::string_view end) {
        const auto at = text.find(begin);
        if (at == text.npos) return {};
        const auto from = at + begin.size();
        return text.substr(from, text.find(end, from) - from);
    }
    static std::string hidden(const Reply& page, const std::string& name) {
        return between(page.text, fmt::format(R"(type="hidden" name="{}" value=")", name), "\"");
    }
    // The session at the gateway that an answer leads to.
    std::optional<SignedIn> at_gateway(const Reply& sent) {
        const std::string code = between(sent.text, "/.hostler/session?code=", "&");
        const auto session = redeem_code(term(), code, "8080-i-1");
        return session ? caller_of_sign_in(term(), *session, "8080-i-1") : std::nullopt;
    }
    std::string totp_of(const std::string& login) {
        const User& user = *desk().estate.users.by().login.first(login);
        return totp_code(base32_bytes(user.totp).value(),
                         timers.wall().time_since_epoch().count() / 30'000'000);
    }
    void with_totp(const std::string& login) {
        const std::string secret = session(login);
        EXPECT_EQ(post("/v1/totp", "{}", secret).status, 201);
        EXPECT_EQ(post("/v1/totp/confirm", fmt::format(R"({{"code":"{}"}})", totp_of(login)), secret).status,
                  200);
        timers.advance(30s);  // A code is not taken twice.
    }
    Reply begin(const std::string& body = R"({"host":"laptop"})") {
        return post("/v1/sign-in/device", body, "");
    }
    // As the command line does: after the interval.
    Reply take(const Reply& begun, Duration pause = device_interval) {
        timers.advance(pause);
        return post("/v1/sign-in/device/token",
                    fmt::format(R"({{"deviceCode":"{}"}})", begun.at("deviceCode")), "");
    }
    static std::string target_of_device(const Reply& begun) { return "device:" + begun.at("userCode"); }
    Reply decide(const Reply& confirm, const std::string& answer) {
        return form("/sign-in/device", {{"form", hidden(confirm, "form")}, {"answer", answer}});
    }
    // As identity providers do it: the user is known, and the target came back from the browser.
    static Task<> finish(StreamPtr stream, Timers& timers, TermPtr leader, std::string who,
                         std::string target) {
        const http::ServerLimits limits;
        co_return co_await http::serve(std::move(stream), timers, limits, [&](http::Exchange& exchange) {
            return finish_browser(exchange, leader, who, target,
                                  {.mark = [](Login& row) { row.client = "by example"; }});
        });
    }
    std::size_t sessions() { return desk().estate.logins.all().size(); }

    const std::string to = "http://8080-i-1.localhost:8443/lab?x=1";
};

TEST_F(BrowserSignIn, APasswordOpensTheInstance) {
    const std::string id = user("ann");
    const Reply page = call("GET", "/sign-in?return=" + percent_encode(to));
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.text, HasSubstr("form-action 'self' http://8080-i-1.localhost:8443;"));
    EXPECT_EQ(hidden(page, "target"), "gateway:" + to);
    EXPECT_THAT(page.text, Not(HasSubstr("<script")));
    const Reply sent = password("Ann");
    EXPECT_EQ(sent.status, 303) << sent.text;
    EXPECT_THAT(sent.text, HasSubstr("Location: http://8080-i-1.localhost:8443/.hostler/session?code=hc_"));
    EXPECT_THAT(sent.text, HasSubstr("&to=%2Flab%3Fx%3D1\r\n"));
    EXPECT_THAT(sent.text, Not(HasSubstr("correct")));
    const auto caller = at_gateway(sent);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->caller.actor, "user/" + id);
    ASSERT_EQ(sessions(), 1u);
    const Login& login = desk().estate.logins.all().begin()->second;
    EXPECT_EQ(login.client, browser_client);
    EXPECT_EQ(login.address, "203.0.113.7");
    EXPECT_FALSE(anywhere_in_store(good_password));
    const auto line = std::ranges::find(store.lines, "signIn", &AuditLine::operation);
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->actor, "user/" + id);
    EXPECT_EQ(line->client, "tester/1");
}

TEST_F(BrowserSignIn, SigningOutAtTheGatewayEndsTheSessionOfThePage) {
    user("ann");
    const std::string command_line = session("ann");
    for (const bool pasted : {false, true}) {
        const Reply sent =
            pasted ? form("/sign-in", {{"target", "gateway:" + to}, {"key", command_line}}) : password("ann");
        const auto opened =
            redeem_code(term(), between(sent.text, "/.hostler/session?code=", "&"), "8080-i-1");
        ASSERT_TRUE(opened) << sent.text;
        EXPECT_EQ(sessions(), pasted ? 1u : 2u);
        sign_out(term(), *opened, "8080-i-1");
        EXPECT_FALSE(caller_of_sign_in(term(), *opened, "8080-i-1"));
        EXPECT_EQ(sessions(), 1u) << "that of the command line stays";
        (void)commit();
    }
    EXPECT_EQ(whoami(command_line), 200);
}

TEST_F(BrowserSignIn, WrongSignInsAreAlikeAndAudited) {
    user("ann");
    const std::string disabled = user("bob");
    EXPECT_EQ(post(fmt::format("/v1/users/{}/disable", disabled), "").status, 200);
    std::set<std::string> answers;
    const auto told = [&](const Reply& reply, const std::string& login) {
        std::string text = reply.text.substr(reply.text.find("\r\n\r\n"));
        if (const auto at = text.find(fmt::format("value=\"{}\"", login)); at != text.npos)
            text.erase(at, login.size() + 8);
        return text;
    };
    for (const std::string login : {"ann", "bob", "nobody"}) {
        const int before = passwords.asked;
        const Reply wrong = password(login, "wrong horses");
        EXPECT_EQ(wrong.status, 403);
        EXPECT_THAT(wrong.text, HasSubstr("The login, the password or the code is wrong."));
        EXPECT_THAT(wrong.text, Not(HasSubstr("wrong horses")));
        EXPECT_EQ(passwords.asked, before + 1);
        answers.insert(told(wrong, login));
    }
    answers.insert(told(password("bob"), "bob"));
    EXPECT_EQ(answers.size(), 1u);
    EXPECT_EQ(password("", "").status, 403);
    EXPECT_EQ(password(std::string(200, 'x'), good_password).status, 403);
    EXPECT_EQ(sessions(), 0u);
    EXPECT_EQ(std::ranges::count(store.lines, "failed", &AuditLine::result), 4);
}

TEST_F(BrowserSignIn, BrowsersAndTheApiHaveOneBudget) {
    settings.sign_in.account_rate = {.per_second = 0.01, .burst = 2};
    user("ann");
    EXPECT_EQ(password("ann", "wrong horses").status, 403);
    EXPECT_EQ(sign_in("ann", "wrong horses").status, 401);
    const Reply slowed = password("ann");
    EXPECT_EQ(slowed.status, 429);
    EXPECT_THAT(slowed.text, HasSubstr("There were too many attempts to sign in"));
    EXPECT_EQ(sign_in("ann").status, 429);
}

TEST_F(BrowserSignIn, APageOfAnotherOriginSignsNobodyIn) {
    user("ann");
    headers = "Sec-Fetch-Site: cross-site\r\n";
    EXPECT_EQ(password("ann").status, 403);
    headers = "Origin: http://evil.example\r\n";
    EXPECT_EQ(password("ann").status, 403);
    EXPECT_EQ(sessions(), 0u);
    for (const char* target : {"gateway:http://evil.example/", "elsewhere", "device:BCDF-GHJK", "device:"}) {
        headers = "";
        const Reply away = password("ann", good_password, target);
        EXPECT_TRUE(away.status == 400 || away.status == 404) << target << away.text;
        EXPECT_THAT(away.text, Not(HasSubstr("Location"))) << target;
    }
    EXPECT_EQ(sessions(), 0u);
}

TEST_F(BrowserSignIn, ASecondFactorIsASecondStep) {
    user("ann");
    with_totp("ann");
    const std::size_t before = sessions();
    const Reply asked = password("ann");
    EXPECT_EQ(asked.status, 200);
    EXPECT_THAT(asked.text, HasSubstr("form-action 'self' http://8080-i-1.localhost:8443;"));
    EXPECT_THAT(asked.text, HasSubstr("one-time-code"));
    EXPECT_THAT(asked.text, Not(HasSubstr("correct horse")));
    const std::string step = hidden(asked, "step");
    EXPECT_TRUE(step.starts_with("hf_")) << asked.text;
    const Reply wrong = code_form(step, "000000");
    EXPECT_EQ(wrong.status, 403);
    EXPECT_EQ(hidden(wrong, "step"), step);
    EXPECT_EQ(sessions(), before);
    const Reply sent = code_form(step, totp_of("ann"));
    EXPECT_EQ(sent.status, 303) << sent.text;
    EXPECT_TRUE(at_gateway(sent));
    EXPECT_EQ(sessions(), before + 1);
    timers.advance(30s);
    EXPECT_THAT(code_form(step, totp_of("ann")).text, HasSubstr("Begin again")) << "a step is taken once";
    EXPECT_EQ(code_form("hf_guess", totp_of("ann")).status, 403);
}

TEST_F(BrowserSignIn, ASecondStepEndsByTimeTriesAndANewPassword) {
    const std::string id = user("ann");
    with_totp("ann");
    std::string step = hidden(password("ann"), "step");
    timers.advance(form_life);
    EXPECT_EQ(code_form(step, totp_of("ann")).status, 403);
    step = hidden(password("ann"), "step");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(code_form(step, "000000").status, 403) << i;
    EXPECT_THAT(code_form(step, totp_of("ann")).text, HasSubstr("Begin again"));
    timers.advance(60s);
    step = hidden(password("ann"), "step");
    const Reply link = post(fmt::format("/v1/users/{}/password-link", id), "");
    EXPECT_EQ(reset(link.at("secret"), "battery staple").status, 200);
    EXPECT_EQ(code_form(step, totp_of("ann")).status, 403) << "its password is the old one";
    EXPECT_EQ(sessions(), 0u);
}

TEST_F(BrowserSignIn, PeopleWithoutARequiredSecondFactorAreToldSo) {
    settings.require_totp = true;
    user("ann");
    const Reply refused = password("ann");
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.text, HasSubstr("hostler totp enrol"));
    EXPECT_EQ(sessions(), 0u);
}

TEST_F(BrowserSignIn, AnotherWayToAuthenticateHasTheSameEnd) {
    const std::string id = user("ann");
    EXPECT_EQ(user("bob") == id, false);
    const auto finished = [&](const std::string& who, const std::string& target) {
        auto [ours, theirs] = hostler::testing::memory_pair(1 << 20, "server", address);
        connections.start("finish", finish(std::move(ours), timers, lead.term, who, target));
        EXPECT_TRUE(hostler::testing::run(
            loop, write_all(*theirs, std::string{"GET / HTTP/1.1\r\nHost: api\r\n\r\n"})));
        timers.settle();
        return reply_in(clients.emplace_back(std::move(theirs))->unread());
    };
    EXPECT_EQ(finished(id, "gateway:http://evil.example/").status, 400);
    EXPECT_EQ(finished("u-gone", "gateway:" + to).status, 403);
    EXPECT_EQ(sessions(), 0u);
    EXPECT_TRUE(at_gateway(finished(id, "gateway:" + to)));
    ASSERT_EQ(sessions(), 1u);
    EXPECT_EQ(desk().estate.logins.all().begin()->second.client, "by example");
    const Reply begun = begin();
    const Reply confirm = finished(id, target_of_device(begun));
    EXPECT_EQ(confirm.status, 200);
    EXPECT_EQ(decide(confirm, "allow").status, 200);
    const Reply taken = take(begun);
    EXPECT_EQ(taken.status, 200) << taken.text;
    EXPECT_EQ(std::ranges::count_if(desk().estate.logins.all(),
                                    [](const auto& row) { return row.second.client == "by example"; }),
              2);
}

TEST_F(BrowserSignIn, ACommandLineSignsInThroughABrowser) {
    const std::string id = user("ann");
    const Reply begun = begin();
    ASSERT_EQ(begun.status, 200) << begun.text;
    EXPECT_TRUE(begun.at("deviceCode").starts_with("hv_"));
    EXPECT_EQ(begun.at("verificationUri"), "http://api/sign-in/device");
    EXPECT_EQ(begun.at("verificationUriComplete"), "http://api/sign-in/device?code=" + begun.at("userCode"));
    EXPECT_EQ(begun.body.at("expiresIn").as_int64(), 600);
    EXPECT_EQ(begun.body.at("interval").as_int64(), 2);
    EXPECT_EQ(take(begun).code(), "authorization_pending");

    EXPECT_THAT(call("GET", "/sign-in/device").text, HasSubstr("name=\"code\""));
    const Reply page = call("GET", "/sign-in/device?code=" + begun.at("userCode"));
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.text, HasSubstr("tester/1 on laptop (203.0.113.7)"));
    EXPECT_EQ(hidden(page, "target"), target_of_device(begun));
    const Reply confirm = password("ann", good_password, target_of_device(begun));
    EXPECT_EQ(confirm.status, 200);
    EXPECT_THAT(confirm.text, HasSubstr("tester/1 on laptop (203.0.113.7) wants to sign in as ann."));
    EXPECT_THAT(confirm.text, HasSubstr(begun.at("userCode")));
    EXPECT_EQ(sessions(), 0u) << "nothing is allowed yet";
    EXPECT_EQ(take(begun).code(), "authorization_pending");
    EXPECT_THAT(decide(confirm, "allow").text, HasSubstr("The command line is signed in"));
    const Reply taken = take(begun);
    ASSERT_EQ(taken.status, 200) << taken.text;
    EXPECT_EQ(taken.at("userID"), id);
    EXPECT_EQ(whoami(taken.at("secret")), 200);
    EXPECT_EQ(sessions(), 1u);
    EXPECT_EQ(take(begun).code(), "device_code_unknown") << "once";
    EXPECT_EQ(decide(confirm, "allow").status, 403) << "the form, too";
    EXPECT_EQ(call("GET", "/sign-in/device?code=" + begun.at("userCode")).status, 404);
    const auto line = std::ranges::find(store.lines, "endDeviceSignIn", &AuditLine::operation);
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->actor, "user/" + id);
    EXPECT_FALSE(anywhere_in_store(begun.at("deviceCode")));
}

TEST_F(BrowserSignIn, ASecondFactorComesBeforeTheConfirmation) {
    user("ann");
    with_totp("ann");
    const Reply begun = begin();
    const Reply asked = password("ann", good_password, target_of_device(begun));
    EXPECT_EQ(hidden(asked, "form"), "");
    const Reply confirm = code_form(hidden(asked, "step"), totp_of("ann"));
    EXPECT_THAT(confirm.text, HasSubstr("wants to sign in as ann"));
    EXPECT_EQ(decide(confirm, "allow").status, 200);
    EXPECT_EQ(take(begun).status, 200);
}

TEST_F(BrowserSignIn, DenyingTellsTheCommandLine) {
    user("ann");
    const Reply begun = begin();
    const Reply confirm = password("ann", good_password, target_of_device(begun));
    EXPECT_EQ(decide(confirm, "perhaps").status, 403);
    EXPECT_THAT(decide(confirm, "deny").text, HasSubstr("was not signed in"));
    EXPECT_EQ(take(begun).code(), "access_denied");
    EXPECT_EQ(take(begun).code(), "device_code_unknown");
    EXPECT_EQ(sessions(), 0u);
    EXPECT_EQ(std::ranges::count(store.log, "device_denied", &EventRecord::reason), 1);
}

TEST_F(BrowserSignIn, ACommandLineThatIsNotConfirmedExpires) {
    user("ann");
    const Reply begun = begin();
    const Reply confirm = password("ann", good_password, target_of_device(begun));
    timers.advance(device_life);
    EXPECT_EQ(take(begun).code(), "device_code_unknown");
    EXPECT_EQ(decide(confirm, "allow").status, 403);
    EXPECT_EQ(password("ann", good_password, target_of_device(begun)).status, 404);
    EXPECT_EQ(sessions(), 0u);
}

TEST_F(BrowserSignIn, AskingTooFastIsSlowedDown) {
    const Reply begun = begin();
    EXPECT_EQ(take(begun).code(), "authorization_pending");
    const Reply fast = take(begun, 500ms);
    EXPECT_EQ(fast.status, 429);
    EXPECT_EQ(fast.code(), "slow_down");
    EXPECT_EQ(take(begun).code(), "authorization_pending");
    EXPECT_EQ(post("/v1/sign-in/device/token", R"({"deviceCode":"hv_guess"})", "").code(),
              "device_code_unknown");
}

TEST_F(BrowserSignIn, GuessedCodesAreSlowedByAddress) {
    settings.sign_in.known_rate = {.per_second = 0.01, .burst = 3};
    user("ann");
    const Reply begun = begin();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(call("GET", "/sign-in/device?code=BBBB-BBBB").status, 404) << i;
    EXPECT_EQ(call("GET", "/sign-in/device?code=BBBB-BBBB").status, 429);
    EXPECT_EQ(call("GET", "/sign-in/device?code=" + begun.at("userCode")).status, 429)
        << "a right guess is not told either";
    EXPECT_EQ(password("ann", good_password, target_of_device(begun)).status, 429);
    address = "203.0.113.8:1";
    EXPECT_EQ(call("GET", "/sign-in/device?code=" + begun.at("userCode")).status, 200);
}

TEST_F(BrowserSignIn, AFormIsGoodForItsBrowserAlone) {
    user("ann");
    user("eve");
    const Reply begun = begin(), other = begin();
    const Reply anns = password("ann", good_password, target_of_device(begun));
    const Reply eves = password("eve", good_password, target_of_device(begun));
    EXPECT_EQ(form("/sign-in/device", {{"form", "hf_guess"}, {"answer", "allow"}}).status, 403);
    EXPECT_EQ(form("/sign-in/device", {{"code", begun.at("userCode")}, {"answer", "allow"}}).status, 403);
    headers = "Sec-Fetch-Site: cross-site\r\n";
    EXPECT_EQ(decide(anns, "allow").status, 403);
    headers = "Sec-Fetch-Site: same-origin\r\n";
    // The first of two who confirm decides.
    EXPECT_EQ(decide(anns, "allow").status, 200);
    EXPECT_EQ(decide(eves, "allow").status, 404);
    EXPECT_EQ(take(begun).at("login"), "ann");
    EXPECT_EQ(take(other).code(), "authorization_pending");
}

TEST_F(BrowserSignIn, AUserWhoIsDisabledMeanwhileGetsNoSession) {
    const std::string id = user("ann");
    const Reply begun = begin();
    EXPECT_EQ(decide(password("ann", good_password, target_of_device(begun)), "allow").status, 200);
    EXPECT_EQ(post(fmt::format("/v1/users/{}/disable", id), "").status, 200);
    EXPECT_EQ(take(begun).code(), "access_denied");
    const Reply later = begin();
    EXPECT_EQ(post(fmt::format("/v1/users/{}/enable", id), "").status, 200);
    const Reply confirm = password("ann", good_password, target_of_device(later));
    EXPECT_EQ(post(fmt::format("/v1/users/{}/disable", id), "").status, 200);
    EXPECT_EQ(decide(confirm, "allow").status, 404);
    EXPECT_EQ(sessions(), 0u);
}

TEST_F(BrowserSignIn, SoManyCommandLinesWait) {
    for (std::size_t i = 0; i < devices_address_max; ++i) EXPECT_EQ(begin().status, 200);
    EXPECT_EQ(begin().code(), "too_many_sign_ins");
    for (int i = 0; devices_of(term()).size() < devices_max; ++i) {
        address = fmt::format("198.51.{}.{}:1", i / 2'000, i / 10 % 200);
        ASSERT_EQ(begin().status, 200) << i;
        clients.clear();
    }
    address = "192.0.2.1:1";
    EXPECT_EQ(begin().code(), "too_many_sign_ins");
    timers.advance(device_life);
    EXPECT_EQ(begin().status, 200);
    EXPECT_EQ(devices_of(term()).size(), 1u) << "those that are over are forgotten";
}

TEST_F(BrowserSignIn, FormsOfOnePersonAreFew) {
    user("ann");
    const Reply begun = begin();
    const Reply first = password("ann", good_password, target_of_device(begun));
    for (std::size_t i = 0; i < forms_user_max; ++i) {
        timers.advance(1s);
        EXPECT_EQ(password("ann", good_password, target_of_device(begun)).status, 200);
    }
    EXPECT_EQ(decide(first, "allow").status, 403);
}

}  // namespace
}  // namespace hostler::master::testing

// Whom it talks to, as whom, and whether that is safe.
#include <csignal>

#include "api/operations_sign_in.h"
#include "api/operations_whoami.h"
#include "cli/fake_api_test.h"
#include "core/signal.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(CliTest, LogsInAndKeepsTheKeyToItself) {
    api.handlers.on<api::ops::whoami>([](api::Call, api::Empty) -> Task<api::Whoami> {
        co_return api::Whoami{.actor = "key/k-1", .is_operator = true};
    });
    env.erase("HOSTLER_API");
    env.erase("HOSTLER_KEY");
    EXPECT_EQ(run({"whoami"}), 2);
    EXPECT_THAT(err, HasSubstr("hostler login"));
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080"}), 2);  // Without a terminal to ask on.
    EXPECT_THAT(err, HasSubstr("--browser"));
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080", "--key", "wrong"}), 4);
    const std::string path = home + "/.config/hostler/config.toml";
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080", "--key", "operator-key"}), 0) << err;
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(run({"whoami", "-o", "name"}), 0) << err;
    // Another API does not get this one's key.
    EXPECT_EQ(run({"whoami", "--api", "http://other.test:80"}), 4);
}

// People with a session.
class PeopleTest : public CliTest {
protected:
    PeopleTest() {
        env.erase("HOSTLER_KEY");
        api.handlers.on<api::ops::sign_in>([this](api::Call, api::SignIn request) -> Task<api::SignedIn> {
            ++attempts;
            if (request.login != "ann" || request.password != "correct horse")
                co_return fail(Code::unauthenticated, "the login, the password or the code is wrong",
                               "sign_in_failed");
            if (with_code && !request.code)
                co_return fail(Code::unauthenticated, "this needs a one-time code", "code_needed");
            if (with_code) EXPECT_EQ(request.code, "123456");
            co_return api::SignedIn{
                .secret = "hu_ann", .user_id = "u-1", .login = "ann", .needs_totp = needs_totp};
        });
        api.handlers.on<api::ops::whoami>([](api::Call, api::Empty) -> Task<api::Whoami> {
            co_return api::Whoami{.actor = "user/u-1", .name = "Ann Bell"};
        });
        api.handlers.on<api::ops::sign_out>([this](api::Call, api::Empty) -> Task<api::SignedOut> {
            ++signed_out;
            co_return api::SignedOut{};
        });
    }
    std::string config() const {
        std::ifstream file{home + "/.config/hostler/config.toml"};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    // A terminal at which these are typed, in turn.
    void at_terminal(std::vector<std::string> answers) {
        asked.clear();
        world.ask = [this, answers, at = std::size_t{0}](std::string_view prompt,
                                                         bool secret) mutable -> std::optional<std::string> {
            asked.push_back((secret ? "secret " : "") + std::string{prompt});
            if (at == answers.size()) return std::nullopt;
            return answers[at++];
        };
    }
    bool with_code = false, needs_totp = false;
    int attempts = 0, signed_out = 0;
    std::vector<std::string> asked;
};

TEST_F(PeopleTest, SignInWithLoginAndPassword) {
    at_terminal({"ann", "correct horse"});
    EXPECT_EQ(run({"login"}), 0) << err;
    EXPECT_THAT(asked, ElementsAre("Login at http://api.test:8080 (empty: sign in with the browser): ",
                                   "secret Password of ann: "));
    EXPECT_THAT(err, HasSubstr("answers to user Ann Bell; kept in"));
    EXPECT_THAT(config(), HasSubstr("key = \"hu_ann\""));
    EXPECT_EQ(std::filesystem::status(home + "/.config/hostler/config.toml").permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_THAT(out + err, Not(HasSubstr("correct horse")));
}

TEST_F(PeopleTest, AreAskedForACodeWhereOneIsNeeded) {
    with_code = true;
    at_terminal({"correct horse", "123456"});
    EXPECT_EQ(run({"login", "--user", "ann"}), 0) << err;
    EXPECT_THAT(asked, ElementsAre("secret Password of ann: ", "One-time code: "));
    EXPECT_EQ(attempts, 2);
}

TEST_F(PeopleTest, AreToldThatASecondFactorIsRequired) {
    needs_totp = true;
    at_terminal({"correct horse"});
    EXPECT_EQ(run({"login", "--user", "ann"}), 0);
    EXPECT_THAT(err, HasSubstr("`hostler totp enrol`"));
}

TEST_F(PeopleTest, AWrongPasswordKeepsNothing) {
    at_terminal({"wrong horses"});
    EXPECT_EQ(run({"login", "--user", "ann"}), 4);
    EXPECT_THAT(err, HasSubstr("the login, the password or the code is wrong"));
    EXPECT_THAT(err, Not(HasSubstr("would help")));
    EXPECT_EQ(config(), "");
}

TEST_F(PeopleTest, WithoutATerminalThePasswordComesFromAFile) {
    EXPECT_EQ(run({"login", "--user", "ann"}), 2);
    EXPECT_THAT(err, HasSubstr("--password @FILE"));
    EXPECT_EQ(run({"login", "--user", "ann", "--password", "correct horse"}), 2);
    EXPECT_THAT(err, HasSubstr("is not written here"));
    EXPECT_EQ(attempts, 0);
    EXPECT_EQ(run({"login", "--user", "ann", "--password", "@" + file("pw", "correct horse\n")}), 0) << err;
    typed = "correct horse\n";
    EXPECT_EQ(run({"login", "--user", "ann", "--password", "-"}), 0) << err;
    EXPECT_EQ(run({"login", "--password", "-"}), 2);
}

TEST_F(PeopleTest, LogoutEndsTheSessionAndForgetsIt) {
    at_terminal({"ann", "correct horse"});
    EXPECT_EQ(run({"login"}), 0) << err;
    EXPECT_EQ(run({"logout"}), 0) << err;
    EXPECT_EQ(signed_out, 1);
    EXPECT_THAT(config(), Not(HasSubstr("hu_ann")));
    EXPECT_THAT(config(), HasSubstr("http://api.test:8080"));
    EXPECT_EQ(run({"logout"}), 2);
    EXPECT_THAT(err, HasSubstr("no credential is kept"));
}

TEST_F(PeopleTest, LogoutForgetsASessionThatHasEnded) {
    at_terminal({"ann", "correct horse"});
    EXPECT_EQ(run({"login"}), 0) << err;
    api.canned["POST /v1/sign-out"] = problem({.code = Code::unauthenticated, .message = "it has ended"});
    EXPECT_EQ(run({"logout"}), 0) << err;
    EXPECT_THAT(config(), Not(HasSubstr("hu_ann")));
}

TEST_F(PeopleTest, AKeyIsForgottenWithoutACall) {
    EXPECT_EQ(run({"login", "--key", "operator-key"}), 0) << err;
    EXPECT_EQ(run({"logout"}), 0) << err;
    EXPECT_EQ(signed_out, 0);
    EXPECT_THAT(config(), Not(HasSubstr("operator-key")));
}

// Sign-in through a browser: the API is asked until a person has answered there.
class BrowserLoginTest : public PeopleTest {
protected:
    BrowserLoginTest() {
        world.host_name = "laptop";
        world.open_url = [this](const std::string& url) {
            opened.push_back(url);
            return can_open;
        };
        world.next_signal = [this]() -> Task<int> {
            CO_TRY(co_await signal.wait());
            co_return number;
        };
        api.handlers.on<api::ops::begin_device_sign_in>(
            [this](api::Call, api::BeginDeviceSignIn request) -> Task<api::DeviceSignIn> {
                EXPECT_EQ(request.host, "laptop");
                co_return api::DeviceSignIn{.device_code = "hv_1",
                                            .user_code = "BCDF-GHJK",
                                            .verification_uri = page,
                                            .verification_uri_complete = page + "?code=BCDF-GHJK",
                                            .expires_in = 600,
                                            .interval = 2};
            });
        api.handlers.on<api::ops::end_device_sign_in>(
            [this](api::Call, api::EndDeviceSignIn request) -> Task<api::SignedIn> {
                EXPECT_EQ(request.device_code, "hv_1");
                polled.push_back(timers.now());
                if (refusal) co_return std::unexpected(*refusal);
                co_return api::SignedIn{.secret = "hu_ann", .user_id = "u-1", .login = "ann"};
            });
    }
    static Error pending() { return {Code::conflict, "not yet", "authorization_pending"}; }

    std::string page = "https://gpu.example.com/sign-in/device";
    bool can_open = true;
    std::optional<Error> refusal = pending();
    std::vector<std::string> opened;
    std::vector<Instant> polled;
    Signal signal;
    int number = SIGINT;
};

TEST_F(BrowserLoginTest, WaitsUntilAPersonHasAnswered) {
    start({"login", "--browser"});
    EXPECT_THAT(err,
                HasSubstr("Sign in with a browser at https://gpu.example.com/sign-in/device?code=BCDF-GHJK"));
    EXPECT_THAT(err, HasSubstr("shows the code BCDF-GHJK"));
    EXPECT_TRUE(opened.empty()) << "without a desktop";
    EXPECT_TRUE(polled.empty());
    timers.advance(6s);
    EXPECT_EQ(polled.size(), 3u);
    EXPECT_FALSE(code);
    refusal.reset();
    timers.advance(2s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_THAT(config(), HasSubstr("key = \"hu_ann\""));
    EXPECT_THAT(err, HasSubstr("answers to user Ann Bell"));
    EXPECT_THAT(out + err, Not(HasSubstr("hu_ann")));
    EXPECT_THAT(out + err, Not(HasSubstr("hv_1")));
}

TEST_F(BrowserLoginTest, OpensTheBrowserOfADesktop) {
    refusal.reset();
    env["DISPLAY"] = ":0";
    start({"login", "--browser"});
    EXPECT_THAT(opened, ElementsAre(page + "?code=BCDF-GHJK"));
    EXPECT_THAT(err, HasSubstr("with the browser that opens, or at"));
    timers.advance(2s);
    EXPECT_EQ(code, 0);
    can_open = false;
    start({"login", "--browser"});
    EXPECT_THAT(err, HasSubstr("Sign in with a browser at"));
}

TEST_F(BrowserLoginTest, NeitherALoginNorAKeyMeansTheBrowser) {
    refusal.reset();
    at_terminal({""});
    start({"login"});
    EXPECT_THAT(asked, ElementsAre("Login at http://api.test:8080 (empty: sign in with the browser): "));
    timers.advance(2s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(attempts, 0);
    EXPECT_EQ(run({"login", "--browser", "--user", "ann"}), 2);
    EXPECT_EQ(run({"login", "--browser", "--key", "operator-key"}), 2);
}

TEST_F(BrowserLoginTest, AsksMoreSlowlyWhenItIsTold) {
    refusal = Error{Code::exhausted, "too often", "slow_down"};
    start({"login", "--browser"});
    timers.advance(2s);
    refusal = pending();
    timers.advance(8s);
    ASSERT_EQ(polled.size(), 3u);
    EXPECT_EQ(polled[1] - polled[0], 4s);
    EXPECT_EQ(polled[2] - polled[1], 4s);
    refusal = Error{Code::timeout, "no answer in time"};  // For a moment.
    timers.advance(4s);
    EXPECT_FALSE(code);
    refusal.reset();
    timers.advance(4s);
    EXPECT_EQ(code, 0);
}

TEST_F(BrowserLoginTest, EndsWhenItIsDeniedOrTooLate) {
    refusal = Error{Code::conflict, "the sign-in was denied in the browser", "access_denied"};
    start({"login", "--browser"});
    timers.advance(2s);
    EXPECT_EQ(code, 4);
    EXPECT_THAT(err, HasSubstr("was denied in the browser"));
    refusal = Error{Code::not_found, "this code is unknown", "device_code_unknown"};
    start({"login", "--browser"});
    timers.advance(2s);
    EXPECT_EQ(code, 3);
    refusal = pending();
    start({"login", "--browser"});
    timers.advance(610s);
    EXPECT_EQ(code, 7);
    EXPECT_THAT(err, HasSubstr("not confirmed in the browser in time"));
    EXPECT_EQ(config(), "");
}

TEST_F(BrowserLoginTest, ASignalEndsTheWait) {
    start({"login", "--browser"});
    number = SIGWINCH;
    signal.notify_all();
    timers.settle();
    EXPECT_FALSE(code);
    number = SIGINT;
    signal.notify_all();
    timers.settle();
    ASSERT_TRUE(code);
    EXPECT_NE(code, 0);
    EXPECT_THAT(err, HasSubstr("interrupted"));
    EXPECT_TRUE(polled.empty());
    EXPECT_EQ(config(), "");
}

TEST_F(BrowserLoginTest, OpensWebAddressesAlone) {
    env["DISPLAY"] = ":0";
    for (const char* bad : {"file:///etc/passwd", "javascript:alert(1)", "https://a b", "https://a\x1b[2J",
                            "-https://a", "https://a`id`"}) {
        page = bad;
        EXPECT_EQ(run({"login", "--browser"}), 1) << bad;
        EXPECT_THAT(err, HasSubstr("no web address")) << bad;
    }
    EXPECT_TRUE(opened.empty());
}

TEST_F(BrowserLoginTest, AnApiOfAnEarlierReleaseHasNone) {
    api.canned["POST /v1/sign-in/device"] =
        problem({.code = Code::not_found, .message = "no such operation"});
    EXPECT_EQ(run({"login", "--browser"}), 2);
    EXPECT_THAT(err, HasSubstr("use --user LOGIN or --key KEY"));
}

TEST_F(PeopleTest, LogoutNamesThePageOfTheIdentityProvider) {
    at_terminal({"ann", "correct horse"});
    EXPECT_EQ(run({"login"}), 0) << err;
    api.canned["POST /v1/sign-out"] = {
        200, {{"Content-Type", "application/json"}}, R"({"endSessionUrl":"https://id.example.com/end?x=1"})"};
    EXPECT_EQ(run({"logout"}), 0) << err;
    EXPECT_THAT(err, HasSubstr("open https://id.example.com/end?x=1"));
}

TEST_F(PeopleTest, PasswordsAreTypedUnseenAndNewOnesTwice) {
    env["HOSTLER_KEY"] = "hu_ann";
    api::ChangePassword got;
    api.handlers.on<api::ops::change_password>(
        [&](api::Call, api::ChangePassword request) -> Task<api::Empty> {
            got = std::move(request);
            co_return api::Empty{};
        });
    at_terminal({"correct horse", "battery staple", "battery staple"});
    EXPECT_EQ(run({"password", "change"}), 0) << err;
    EXPECT_THAT(asked,
                ElementsAre("secret old-password: ", "secret new-password: ", "secret new-password again: "));
    EXPECT_EQ(got.old_password, "correct horse");
    EXPECT_EQ(got.new_password, "battery staple");
    EXPECT_EQ(api.idempotency_keys.back(), "");  // It would be kept with a digest of the password.
    at_terminal({"correct horse", "battery staple", "battery stable"});
    EXPECT_EQ(run({"password", "change"}), 2);
    EXPECT_THAT(err, HasSubstr("the two differ"));
    EXPECT_EQ(run({"password", "change", "--old-password", "correct horse", "--new-password", "-"}), 2);
    EXPECT_THAT(err, Not(HasSubstr("correct horse")));
    EXPECT_EQ(run({"password", "change", "--idempotency-key", "x"}), 2);
}

TEST_F(CliTest, ReadsTheFileThatUpWrites) {
    api.canned["GET /base/v1/whoami"] = problem({.code = Code::conflict, .message = "it got there"});
    env.erase("HOSTLER_API");
    env.erase("HOSTLER_KEY");
    env["HOSTLER_CONFIG"] = home + "/cli.env";
    EXPECT_EQ(run({"whoami"}), 2);
    EXPECT_THAT(err, HasSubstr("cli.env, which cannot be read"));
    std::ofstream{home + "/cli.env"}
        << "# a comment\nexport HOSTLER_API=http://10.0.0.7/base/\nHOSTLER_KEY='operator-key'\n";
    EXPECT_EQ(run({"whoami"}), 5) << err;
    EXPECT_THAT(api.dialled, ElementsAre("10.0.0.7:80"));
    for (const auto* bad :
         {"ftp://x", "http://", "http://a@b", "unix:relative", "https://", "https://a@b", "x:80"})
        EXPECT_EQ(run({"whoami", "--api", bad}), 2) << bad;
    EXPECT_EQ(run({"whoami", "--api", "unix:/run/api.sock", "--key", "operator-key"}), 8);
    EXPECT_EQ(api.dialled.back(), "unix:/run/api.sock");
}

TEST_F(CliTest, SpeaksTlsToHttpsAddresses) {
    api.canned["GET /v1/whoami"] = problem({.code = Code::conflict, .message = "it got there"});
    EXPECT_EQ(run({"whoami", "--api", "https://api.test", "--key", "operator-key"}), 5) << err;
    EXPECT_EQ(api.dialled.back(), "api.test:443");
    EXPECT_EQ(api.secured.back(), "https://api.test");
    EXPECT_EQ(run({"whoami", "--api", "https://[::1]:8443", "--key", "operator-key"}), 5) << err;
    EXPECT_EQ(api.dialled.back(), "[::1]:8443");
    EXPECT_EQ(api.secured.back(), "https://[::1]");
    const std::string pem = "-----BEGIN CERTIFICATE-----\nours";
    EXPECT_EQ(
        run({"whoami", "--api", "https://api.test", "--key", "operator-key", "--ca", file("ca.pem", pem)}),
        5);
    EXPECT_EQ(api.secured.back(), "https://api.test by " + pem);
    env["HOSTLER_CA"] = home + "/ca.pem";
    EXPECT_EQ(run({"whoami", "--api", "https://api.test", "--key", "operator-key"}), 5);
    EXPECT_EQ(api.secured.back(), "https://api.test by " + pem);
    EXPECT_EQ(run({"whoami"}), 5) << err;  // http:// needs no authority.
    EXPECT_EQ(api.secured.size(), 4U);
    EXPECT_EQ(run({"whoami", "--ca", home + "/ca.pem"}), 2);
    EXPECT_THAT(err, HasSubstr("--ca is for https:// addresses"));
    EXPECT_EQ(run({"whoami", "--api", "https://api.test", "--ca", home + "/none.pem"}), 2);
    EXPECT_THAT(err, HasSubstr("none.pem, which is to name the authorities to believe, cannot be read"));
    EXPECT_EQ(run({"whoami", "--api", "https://api.test", "--ca", file("x.pem", "hello")}), 2);
    EXPECT_THAT(err, HasSubstr("x.pem holds no certificate in PEM"));
}

TEST_F(CliTest, SaysWhyAServerIsNotTrusted) {
    env["HOSTLER_API"] = "https://api.test";
    api.refusal = Error{Code::unauthenticated, "10.0.0.7:443: somebody else", "unknown_authority"};
    EXPECT_EQ(run({"whoami"}), 8);
    EXPECT_EQ(
        err,
        "hostler: the API at api.test:443 is not to be trusted: 10.0.0.7:443: somebody else\n"
        "  would help: if the authority is one of your own, name its certificate: --ca FILE or HOSTLER_CA\n");
    EXPECT_TRUE(api.requests.empty());
    api.refusal->reason = "wrong_name";
    EXPECT_EQ(run({"whoami"}), 8);
    EXPECT_THAT(err, Not(HasSubstr("--ca")));
}

TEST_F(CliTest, LoginKeepsTheAuthorityToo) {
    api.handlers.on<api::ops::whoami>(
        [](api::Call, api::Empty) -> Task<api::Whoami> { co_return api::Whoami{.is_operator = true}; });
    env.erase("HOSTLER_API");
    env.erase("HOSTLER_KEY");
    const std::string ca = file("ca.pem", "-----BEGIN CERTIFICATE-----\nours");
    const std::string here = std::filesystem::current_path().string();
    std::filesystem::current_path(home);
    EXPECT_EQ(run({"login", "--api", "https://api.test", "--key", "operator-key", "--ca", "ca.pem"}), 0)
        << err;
    std::filesystem::current_path(here);
    EXPECT_EQ(run({"whoami"}), 0) << err;
    EXPECT_THAT(api.secured.back(), HasSubstr("by -----BEGIN"));
    // Another API is not vouched for by this one's authority.
    EXPECT_EQ(run({"whoami", "--api", "https://other.test", "--key", "operator-key"}), 0) << err;
    EXPECT_EQ(api.secured.back(), "https://other.test");
}

}  // namespace
}  // namespace hostler::cli

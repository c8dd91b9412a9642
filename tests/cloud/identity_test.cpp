// People who sign in by an identity provider, in a browser: the npm package oidc-provider (tests/identity).
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "browser.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A program that runs until it is ended, its output in a file.
pid_t start_program(std::vector<std::string> words, const std::string& log,
                    const std::map<std::string, std::string>& environment = {}) {
    std::vector<char*> arguments, variables;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> texts;
    for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
    for (std::string& text : texts) variables.push_back(text.data());
    for (char** one = environ; *one; ++one) variables.push_back(*one);
    variables.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid = 0;
    const int error =
        ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), variables.data());
    ::posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(error, 0) << words.front();
    return error == 0 ? pid : 0;
}

class Identity : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        closed = cloud.run({.id = "by-provider", .open_to_all = false});
        start_provider();
        const Page made = cloud.api(
            "POST", "/v1/identity-providers",
            {{"name", "Lab SSO"},
             {"issuer", issuer},
             {"clientID", "hostler"},
             {"clientSecret", "of-tests"},
             {"scopes", json::array{"profile", "email", "groups"}},
             {"groupsClaim", "groups"},
             {"createsUsers", true},
             {"groupRoles",
              json::array{json::object{{"group", "engineers"}, {"role", "member"}, {"tenantID", "acme"}}}}});
        ASSERT_EQ(made.status, 201) << made.body;
        idp = made.at("/id");
        steer("client",
              {{"backchannel_logout_uri", fmt::format("{}/sign-in/oidc/{}/logout", cloud.api_url, idp)}});
        steer("groups", {{"login", "ann"}, {"groups", json::array{"engineers"}}, {"at", "userinfo"}});
    }
    static void TearDownTestSuite() {
        Cloud& cloud = Cloud::shared();
        cloud.api("DELETE", "/v1/identity-providers/" + idp);
        if (provider > 0) {
            ::kill(provider, SIGKILL);
            ::waitpid(provider, nullptr, 0);
        }
        cloud.end("by-provider");
    }
    static void start_provider() {
        Cloud& cloud = Cloud::shared();
        const std::string folder = cloud.folder + "/identity";
        std::filesystem::create_directories(folder);
        const json::object config{
            {"packages", HOSTLER_NODE_MODULES},
            {"port", 0},
            {"ready", folder + "/port"},
            {"client", json::object{{"client_id", "hostler"},
                                    {"client_secret", "of-tests"},
                                    {"redirect_uris", json::array{cloud.api_url + "/sign-in/oidc/callback"}},
                                    {"post_logout_redirect_uris", json::array{cloud.api_url + "/"}},
                                    {"backchannel_logout_session_required", true}}}};
        std::ofstream{folder + "/config.json"} << json::serialize(config);
        provider = start_program({"node", HOSTLER_IDENTITY, folder + "/config.json"}, folder + "/log");
        ASSERT_TRUE(cloud.until([&] { return !read_file(folder + "/port").empty(); }, 60s))
            << read_file(folder + "/log");
        issuer = "http://127.0.0.1:" + read_file(folder + "/port");
    }
    static void steer(const std::string& what, const json::object& wish) {
        const Page done =
            Cloud::shared().web.fetch("POST", issuer + "/steer/" + what, {}, json::serialize(wish));
        ASSERT_EQ(done.status, 200) << done.body;
    }
    // At the provider: its sign-in, and its question whether that is wanted.
    static void pass_provider(Browser& chrome, const std::string& login) {
        ASSERT_TRUE(chrome.type("input[name=login]", login)) << chrome.text("body");
        ASSERT_TRUE(chrome.type("input[name=password]", "any"));
        ASSERT_TRUE(chrome.click(".login-submit"));
        ASSERT_TRUE(chrome.until("return !document.querySelector('input[name=login]')"));
        if (chrome.url().starts_with(issuer))
            ASSERT_TRUE(chrome.click(".login-submit")) << chrome.text("body");
    }
    void open_by_provider(Browser& chrome, const std::string& login) {
        chrome.open(closed + "/env");
        ASSERT_TRUE(chrome.click("a.go")) << chrome.text("body");
        pass_provider(chrome, login);
    }
    static bool shows_instance(Browser& chrome) {
        return chrome.until("return document.body.textContent.includes('HOSTLER')");
    }

    static pid_t provider;
    static std::string issuer, idp, closed;
};
pid_t Identity::provider = 0;
std::string Identity::issuer, Identity::idp, Identity::closed;

TEST_F(Identity, GroupsOfTheProviderOpenAnInstance) {
    Browser chrome{cloud.web, cloud.folder + "/identity-1"};
    open_by_provider(chrome, "ann");
    ASSERT_TRUE(shows_instance(chrome)) << chrome.url() << chrome.text("body");
    EXPECT_EQ(chrome.url(), closed + "/env");
    EXPECT_EQ(cloud.api("GET", "/v1/users/ann").at("/email"), "ann@example.com");
    const Page grants = cloud.api("GET", "/v1/grants?tenantID=acme");
    EXPECT_THAT(grants.body, HasSubstr("\"madeBy\":\"idp/" + idp)) << "the role comes from the provider";

    Browser other{cloud.web, cloud.folder + "/identity-2"};
    open_by_provider(other, "bob");
    ASSERT_TRUE(other.until("return document.querySelector('main') !== null")) << other.url();
    EXPECT_THAT(other.text("body"), Not(HasSubstr("HOSTLER"))) << "without the group he has no role";
    // At his next sign-in he is in the group, and the provider says so in the ID token.
    steer("groups", {{"login", "bob"}, {"groups", json::array{"engineers"}}, {"at", "id_token"}});
    other.open(closed + "/.hostler/sign-out");
    other.open(closed + "/env");
    ASSERT_TRUE(other.click("a.go")) << other.text("body");
    EXPECT_TRUE(shows_instance(other)) << other.url() << other.text("body");
}

TEST_F(Identity, KeysOfTheProviderRotate) {
    steer("rotate", {});
    Browser chrome{cloud.web, cloud.folder + "/identity-3"};
    open_by_provider(chrome, "ann");
    EXPECT_TRUE(shows_instance(chrome)) << chrome.url() << chrome.text("body");
}

TEST_F(Identity, ACommandLineSignsInAndOut) {
    const std::string folder = cloud.folder + "/identity-cli";
    std::filesystem::create_directories(folder);
    const std::map<std::string, std::string> mine{{"HOSTLER_API", cloud.api_url},
                                                  {"XDG_CONFIG_HOME", folder}};
    const pid_t login = start_program({HOSTLER, "login", "--browser"}, folder + "/log", mine);
    std::smatch found;
    std::string said;
    ASSERT_TRUE(cloud.until([&] {
        said = read_file(folder + "/log");
        return std::regex_search(said, found, std::regex{"(http://[^ \n]+/sign-in/device\\?code=[A-Z-]+)"});
    })) << said;
    Browser chrome{cloud.web, cloud.folder + "/identity-4"};
    chrome.open(found.str(1));
    ASSERT_TRUE(chrome.click("a.go")) << chrome.text("body");
    pass_provider(chrome, "ann");
    ASSERT_TRUE(chrome.click("#allow")) << chrome.url() << chrome.text("body");
    int status = -1;
    ASSERT_TRUE(cloud.until([&] { return ::waitpid(login, &status, WNOHANG) == login; }, 60s));
    EXPECT_EQ(WEXITSTATUS(status), 0) << read_file(folder + "/log");
    const Ran who = run_program({HOSTLER, "whoami"}, mine);
    EXPECT_EQ(who.code, 0) << who.err;
    EXPECT_THAT(who.out, HasSubstr("ann"));
    EXPECT_EQ(run_program({HOSTLER, "instance", "list", "--tenant", "acme"}, mine).code, 0);

    const Ran out = run_program({HOSTLER, "logout"}, mine);
    EXPECT_EQ(out.code, 0) << out.err;
    said = out.out + out.err;
    ASSERT_TRUE(std::regex_search(said, found, std::regex{"(http://[^ \n]+/session/end[^ \n]*)"}))
        << out.out << out.err;
    chrome.open(found.str(1));
    ASSERT_TRUE(chrome.click("button[name=logout]")) << chrome.text("body");
    EXPECT_TRUE(chrome.until(
        fmt::format("return location.href.startsWith('{}/sign-in?target=console')", cloud.api_url)))
        << chrome.url();
}

TEST_F(Identity, ASessionThatEndsAtTheProviderEndsHere) {
    Browser chrome{cloud.web, cloud.folder + "/identity-5"};
    open_by_provider(chrome, "ann");
    ASSERT_TRUE(shows_instance(chrome)) << chrome.url() << chrome.text("body");
    chrome.open(issuer + "/session/end");
    ASSERT_TRUE(chrome.click("button[name=logout]")) << chrome.text("body");
    ASSERT_TRUE(chrome.until("return location.pathname !== '/session/end'"));
    EXPECT_TRUE(cloud.until([&] {
        chrome.open(closed + "/env");
        return chrome.url().starts_with(cloud.api_url + "/sign-in");
    })) << chrome.url()
        << read_file(cloud.folder + "/identity/log");
}

TEST_F(Identity, AProviderThatIsAwayLeavesSessionsWorking) {
    Browser chrome{cloud.web, cloud.folder + "/identity-6"};
    open_by_provider(chrome, "ann");
    ASSERT_TRUE(shows_instance(chrome)) << chrome.url() << chrome.text("body");
    steer("away", {{"away", true}});
    chrome.open(closed + "/env");
    EXPECT_TRUE(shows_instance(chrome)) << chrome.url();
    const Page tested = cloud.api("POST", "/v1/identity-providers/" + idp + "/test");
    EXPECT_THAT(tested.body, HasSubstr("503")) << tested.status;
    steer("away", {{"away", false}});
}

}  // namespace
}  // namespace hostler::cloud

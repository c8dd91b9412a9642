// Whom it talks to, as whom, and whether that is safe.
#include "api/operations_whoami.h"
#include "cli/fake_api_test.h"

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
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080"}), 2);  // Nobody to ask for the key.
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080", "--key", "wrong"}), 4);
    const std::string path = home + "/.config/hostler/config.toml";
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080", "--key", "operator-key"}), 0) << err;
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(run({"whoami", "-o", "name"}), 0) << err;
    // Another API does not get this one's key.
    EXPECT_EQ(run({"whoami", "--api", "http://other.test:80"}), 4);
    world.ask = [](std::string_view, bool secret) {
        EXPECT_TRUE(secret);
        return std::optional<std::string>("operator-key");
    };
    EXPECT_EQ(run({"login", "--api", "http://api.test:8080"}), 0) << err;
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

// Three masters of one cloud on a PostgreSQL: the leading process is killed.
#include "adapters/postgres/testing/server.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

struct Masters : ::testing::Test {
    // As an operator with the file that `up` wrote, which names all masters.
    Ran cli(std::vector<std::string> words) {
        words.insert(words.begin(), HOSTLER);
        return run_program(std::move(words), {{"HOSTLER_CONFIG", cloud.data + "/config.toml"}});
    }
    std::string leader() {
        std::string found;
        cloud.until(
            [&] {
                for (const std::string name : {"master", "master-2", "master-3"}) {
                    boost::system::error_code error;
                    const auto told =
                        json::parse(read_file(cloud.data + "/" + name + "/addresses.json"), error);
                    const Page page = cloud.web.fetch("GET", "http://" + at(told, "/api") + "/healthz");
                    if (page.status == 200 && page.body.starts_with("ok\n")) found = name;
                }
                return !found.empty();
            },
            60s);
        return found;
    }

    postgres::testing::Server server;
    Cloud cloud{
        {"--engine", "sim", "--masters", "3", "--lease", "3", "--store", server.url(server.new_database())}};
};

TEST_F(Masters, TheLeaderIsKilledAndTheNextWriteIsDone) {
    for (int round = 0; round < 3; ++round) {
        const std::string killed = leader();
        ASSERT_NE(killed, "");
        const pid_t was = cloud.kill9(killed);
        const Ran made = cli({"zone", "create", fmt::format("z-{}", round)});
        EXPECT_EQ(made.code, 0) << made.err;
        cloud.wait_for_another(killed, was);
    }
    for (int round = 0; round < 3; ++round)
        EXPECT_EQ(cli({"zone", "get", fmt::format("z-{}", round)}).code, 0) << "acknowledged, and gone";
    // Access points and hosts have found the one that leads now.
    EXPECT_TRUE(cloud.until(
        [&] {
            boost::system::error_code error;
            const auto hosts = json::parse(cli({"host", "list", "-o", "json"}).out, error);
            return !error && hosts.is_array() && hosts.get_array().size() == 2 &&
                   std::ranges::all_of(hosts.get_array(), [](const json::value& host) {
                       return at(host, "/state") == "ready" && !at(host, "/accessPoint").empty();
                   });
        },
        60s));
}

TEST_F(Masters, AJobRunsOnTheSimulatedEngineAndEndsWithItsCode) {
    ASSERT_EQ(cli({"spec", "create", "small", "--cpu", "1", "--memory", "64Mi", "--gpu-type",
                   "H100 SXM5 80GB", "--gpu-num", "1"})
                  .code,
              0);
    ASSERT_EQ(cli({"tenant", "create", "acme"}).code, 0);
    const Ran ran = cli({"run", "--image", "x", "--spec", "small", "--tenant-id", "acme", "--", "exit", "7"});
    EXPECT_EQ(ran.code, 7) << ran.out << ran.err;
}

}  // namespace
}  // namespace hostler::cloud

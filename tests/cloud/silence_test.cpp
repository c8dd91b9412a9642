// A host that vanishes, and one that is shown the door.
#include <signal.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;

class Silence : public ::testing::Test {
protected:
    Cloud cloud{{"--unreachable-after", "2", "--lost-after", "4"}};
    std::string state_of(const std::string& host) {
        return cloud.api("GET", "/v1/hosts/" + host).at("/state");
    }
};

TEST_F(Silence, AHostThatVanishesIsLostWithAllThatIsOnItAndComesBack) {
    cloud.make_stock(4);
    const std::string url = cloud.run({.id = "silent-1"});
    const Page before = cloud.instance("silent-1");
    const std::string host = before.at("/host");
    const pid_t agent = cloud.find("host-" + cloud.api("GET", "/v1/hosts/" + host).at("/name"));
    ASSERT_NE(agent, 0);
    ::kill(agent, SIGSTOP);
    EXPECT_TRUE(cloud.until([&] { return state_of(host) == "unreachable"; }, 10s)) << state_of(host);
    EXPECT_EQ(cloud.instance("silent-1").at("/state"), "running") << "silence is not death";
    EXPECT_TRUE(cloud.until([&] { return state_of(host) == "lost"; }, 10s)) << state_of(host);
    EXPECT_THAT(cloud.api("GET", "/v1/hosts/" + host).at("/message"), HasSubstr("4 s"));
    const Page lost = cloud.wait_for("silent-1", "lost");
    EXPECT_EQ(lost.at("/reason"), "host_lost");
    EXPECT_FALSE(lost.at("/message").empty());
    EXPECT_EQ(cloud.containers(lost.at("/id")).size(), 1u) << "nobody stops what may still be of use";
    // Idle stock is made ready elsewhere; what the instance holds stays its own.
    EXPECT_TRUE(cloud.until([&] {
        return cloud.stock("small").at("/idle") == "3" && cloud.stock("small").at("/missing") == "0";
    })) << cloud.stock("small").body;
    for (const json::value& gpu : cloud.api("GET", "/v1/gpus?limit=100").json().at("items").as_array())
        if (at(gpu, "/host") == host) {
            EXPECT_NE(at(gpu, "/use"), "stock");
        }
    // Nothing new goes there.
    const std::string next = cloud.run({.id = "elsewhere-1"});
    EXPECT_NE(cloud.instance("elsewhere-1").at("/host"), host);
    EXPECT_EQ(cloud.web.fetch("GET", next + "/healthz").body, "ok\n");

    ::kill(agent, SIGCONT);
    EXPECT_TRUE(cloud.until([&] { return state_of(host) == "ready"; }, 20s)) << state_of(host);
    const Page back = cloud.wait_for("silent-1", "running");
    EXPECT_EQ(back.at("/id"), before.at("/id"));
    EXPECT_TRUE(cloud.until([&] { return cloud.web.fetch("GET", url + "/healthz").body == "ok\n"; }));
    cloud.end("silent-1");
    cloud.end("elsewhere-1");
    EXPECT_TRUE(cloud.until([&] { return cloud.gpus_free() == 12; }));
}

TEST_F(Silence, AHostThatIsRemovedIsCutOffAtOnce) {
    cloud.make_stock(2);
    cloud.run({.id = "evicted-1"});
    const std::string host = cloud.instance("evicted-1").at("/host");
    const std::string name = cloud.api("GET", "/v1/hosts/" + host).at("/name");
    const Page refused = cloud.api("DELETE", "/v1/hosts/" + host);
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(cloud.instance("evicted-1").at("/state"), "running");
    const Ran removed = cloud.cli({"host", "remove", host, "--force", "--yes"});
    EXPECT_EQ(removed.code, 0) << removed.err;
    EXPECT_EQ(cloud.api("GET", "/v1/hosts/" + host).status, 404);
    const Page lost = cloud.instance("evicted-1");
    EXPECT_EQ(lost.at("/state"), "failed") << lost.body;
    EXPECT_FALSE(lost.at("/message").empty());
    EXPECT_TRUE(cloud.until([&] { return cloud.gpus_free() == 6; }))
        << "its GPUs are gone, and the stock is where there are others";
    // Its agent tries again, and is not let in: neither by itself nor after a start of its own.
    cloud.wait_for_another("host-" + name, cloud.kill9("host-" + name));
    (void)cloud.until(
        [&] { return cloud.api("GET", "/v1/hosts?limit=10").json().at("items").as_array().size() > 1; }, 2s);
    EXPECT_EQ(cloud.api("GET", "/v1/hosts?limit=10").json().at("items").as_array().size(), 1u);
    EXPECT_EQ(cloud.api("GET", "/v1/hosts/" + host).status, 404);
    const std::string other = cloud.api("GET", "/v1/hosts?limit=10").at("/items/0/id");
    EXPECT_EQ(state_of(other), "ready");
}

}  // namespace
}  // namespace hostler::cloud

// A cloud whose hosts run dockerd works as one with podman does.
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class OnDocker : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        ASSERT_NE(shell("command -v dockerd containerd"), "") << "./dev setup installs it";
        the_cloud = std::make_unique<Cloud>(std::vector<std::string>{"--ready-deadline", "10"}, SmallDisks{},
                                            HostEngine::dockerd);
        the_cloud->make_stock(4);
    }
    static void TearDownTestSuite() { the_cloud.reset(); }
    static std::unique_ptr<Cloud> the_cloud;
    Cloud& cloud = *the_cloud;
};
std::unique_ptr<Cloud> OnDocker::the_cloud;

TEST_F(OnDocker, AnInstanceAnswersAtItsUrlBehindEveryWall) {
    const std::string url = cloud.run({.id = "whale-1"});
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    EXPECT_EQ(cloud.web.fetch("GET", url + "/gpus").at("/count"), "1");
    for (const std::string what : {"new-user", "key", "mount", "device"})
        EXPECT_EQ(cloud.web.fetch("GET", url + "/attack?what=" + what).body, "EPERM\n") << what;
    const Page running = cloud.instance("whale-1");
    ASSERT_EQ(cloud.containers(running.at("/id")).size(), 1u);
    const Page host = cloud.api("GET", "/v1/hosts/" + running.at("/host"));
    EXPECT_THAT(host.at("/engine"), HasSubstr("docker "));
    EXPECT_EQ(host.at("/userNamespaces"), "true");
    cloud.end("whale-1");
    EXPECT_THAT(cloud.containers(running.at("/id")), IsEmpty());
}

TEST_F(OnDocker, AVolumesDataOutlivesTheInstance) {
    const Page volume =
        cloud.api("POST", "/v1/volumes", {{"name", "sea"}, {"size", "1Gi"}, {"tenantID", "acme"}});
    ASSERT_EQ(volume.status / 100, 2) << volume.body;
    const std::string url = cloud.run({.id = "diver-1", .storage = "sea", .mount = "/data"});
    EXPECT_EQ(cloud.web.fetch("PUT", url + "/files/x", {}, "what is kept").status, 201);
    cloud.end("diver-1");
    const std::string again = cloud.run({.id = "diver-2", .storage = "sea", .mount = "/data"});
    EXPECT_EQ(cloud.web.fetch("GET", again + "/files/x").body, "what is kept");
    cloud.end("diver-2");
}

TEST_F(OnDocker, WhatEndsSaysWhy) {
    const std::string url = cloud.run({.id = "leaver"});
    EXPECT_EQ(cloud.web.fetch("GET", url + "/exit?code=7").status, 200);
    EXPECT_EQ(cloud.wait_for("leaver", "failed").at("/exitCode"), "7");
    EXPECT_THAT(cloud.api("GET", "/v1/instances/leaver/logs?tenantID=acme").at("/text"),
                HasSubstr("listening on port 8080"));
    const std::string greedy = cloud.run({.id = "glutton"});
    (void)cloud.web.fetch("GET", greedy + "/alloc?mib=600", {}, "", 20s);
    EXPECT_EQ(cloud.wait_for("glutton", "failed").at("/reason"), "out_of_memory");
}

TEST_F(OnDocker, AnAgentThatIsKilledFindsItsContainers) {
    const std::string url = cloud.run({.id = "swimmer"});
    const Page before = cloud.instance("swimmer");
    const auto containers = cloud.containers(before.at("/id"));
    const std::string host = "host-" + cloud.api("GET", "/v1/hosts/" + before.at("/host")).at("/name");
    cloud.wait_for_another(host, cloud.kill9(host));
    EXPECT_TRUE(cloud.until([&] { return cloud.web.fetch("GET", url + "/healthz").body == "ok\n"; }));
    EXPECT_EQ(cloud.containers(before.at("/id")), containers);
    EXPECT_EQ(cloud.instance("swimmer").at("/state"), "running");
    cloud.end("swimmer");
}

TEST_F(OnDocker, TenantsDoNotMeet) {
    cloud.run({.id = "whale-2"});
    const Page first = cloud.instance("whale-2");
    const std::string zone = first.at("/zone");
    ASSERT_EQ(
        cloud.api("POST", "/gpu-instances?zone=" + zone, cloud.body_of({.id = "shark", .tenant = "other"}))
            .status,
        200);
    std::string url = cloud.wait_for("shark", "running", 30s, "other").at("/urls/0/url");
    url.pop_back();
    ASSERT_EQ(cloud.instance("shark", "other").at("/host"), first.at("/host"));
    const auto connect = [&](const std::string& to) {
        return cloud.web.fetch("GET", fmt::format("{}/connect?host={}&port=8080", url, to)).body;
    };
    EXPECT_EQ(connect("127.0.0.1"), "connected\n") << "to itself it can";
    EXPECT_THAT(connect(first.at("/address")), AnyOf("timeout\n", "unreachable\n"));
    EXPECT_THAT(connect(first.at("/id")), Not(HasSubstr("connected")));
    cloud.end("whale-2");
    cloud.end("shark", "other");
}

}  // namespace
}  // namespace hostler::cloud

// kill -9 of every role in the middle of something: nothing acknowledged is lost, nothing is left behind.
#include <signal.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::IsEmpty;

// One cloud for all of them, and each leaves it whole.
class Crash : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        one = std::make_unique<Cloud>(std::vector<std::string>{"--unreachable-after", "15"});
        one->make_stock(4);
    }
    static void TearDownTestSuite() {
        if (!one) return;  // It did not start.
        one->stop();
        EXPECT_TRUE(one->until([] { return one->processes().empty(); })) << "it was ended in order";
        one.reset();
    }
    void TearDown() override {
        // Whatever was killed: afterwards nothing of it remains.
        Page all;
        ASSERT_TRUE(cloud.until(
            [&] { return (all = cloud.api("GET", "/v1/instances?all=true&limit=1000")).status == 200; }, 10s))
            << all.body;
        for (const json::value& item : all.json().at("items").as_array()) {
            const std::string state = at(item, "/state");
            if (state != "stopped" && state != "failed") cloud.end(at(item, "/instanceID"));
        }
        EXPECT_TRUE(cloud.until([&] { return cloud.containers().empty(); }));
        EXPECT_TRUE(cloud.until([&] { return cloud.networks().empty(); }))
            << ::testing::PrintToString(cloud.networks());
        EXPECT_TRUE(cloud.until([&] { return cloud.stock("small").at("/idle") == "4"; }))
            << cloud.stock("small").body;
        EXPECT_EQ(cloud.gpus_free(), 12);
        EXPECT_THAT(cloud.bridges(), IsEmpty());
    }
    // Running, answering, and one container alone.
    void expect_whole(const std::string& name) {
        const Page running = cloud.wait_for(name, "running", 45s);
        EXPECT_EQ(cloud.containers(running.at("/id")).size(), 1u);
        EXPECT_TRUE(cloud.until([&] {
            return cloud.web.fetch("GET", running.at("/urls/0/url") + "healthz").body == "ok\n";
        })) << name;
    }
    // The API answers, after whatever happened to the master.
    void wait_for_api() {
        EXPECT_TRUE(cloud.until([&] { return cloud.api("GET", "/v1/whoami").status == 200; }, 30s));
    }
    static std::unique_ptr<Cloud> one;
    Cloud& cloud = *one;
};
std::unique_ptr<Cloud> Crash::one;

TEST_F(Crash, TheMasterRightAfterItAcknowledged) {
    for (int round = 0; round < 3; ++round) {
        const std::string name = fmt::format("acknowledged-{}", round);
        ASSERT_EQ(cloud.begin({.id = name}).status, 200);
        const pid_t was = cloud.kill9("master");
        cloud.wait_for_another("master", was);
        wait_for_api();
    }
    for (int round = 0; round < 3; ++round) expect_whole(fmt::format("acknowledged-{}", round));
    // Acknowledged ends are not lost either.
    ASSERT_EQ(cloud.api("DELETE", "/gpu-instances/acknowledged-0?tenantID=acme").status, 200);
    const pid_t was = cloud.kill9("master");
    cloud.wait_for_another("master", was);
    wait_for_api();
    cloud.wait_for("acknowledged-0", "stopped");
}

// Who keeps its lease outlives the agent, and not the cloud (TearDownTestSuite).
TEST_F(Crash, AnAgentOfWhatMayMove) {
    const Ran made =
        cloud.cli({"instance", "create", "lease-1", "--tenant-id", "acme", "--spec-name", "small", "--image",
                   cloud.image, "--port", "8080,public,probe", "--loss-policy", "move"});
    ASSERT_EQ(made.code, 0) << made.err;
    const Page running = cloud.wait_for("lease-1", "running", 45s);
    const std::string host = cloud.api("GET", "/v1/hosts/" + running.at("/host")).at("/name");
    const auto supervisor = [&] {
        for (const pid_t pid : cloud.processes()) {
            const std::string words = read_file(fmt::format("/proc/{}/cmdline", pid));
            if (words.find(std::string{"\0supervise\0", 11}) != std::string::npos &&
                words.find("/hosts/" + host + "/leases") != std::string::npos)
                return pid;
        }
        return 0;
    };
    const pid_t first = supervisor();
    ASSERT_NE(first, 0);
    cloud.wait_for_another("host-" + host, cloud.kill9("host-" + host));
    expect_whole("lease-1");
    EXPECT_EQ(supervisor(), first);
    ::kill(first, SIGKILL);
    EXPECT_TRUE(cloud.until([&] {
        const pid_t now = supervisor();
        return now != 0 && now != first;
    })) << "the agent starts another one";
    expect_whole("lease-1");
}

TEST_F(Crash, TheDataPathWorksWithoutAMaster) {
    const std::string url = cloud.run({.id = "path-1"});
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    const pid_t master = cloud.find("master");
    ASSERT_NE(master, 0);
    ::kill(master, SIGSTOP);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    ::kill(master, SIGKILL);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    cloud.wait_for_another("master", master);
    wait_for_api();
    expect_whole("path-1");
}

TEST_F(Crash, TheAccessPointDuringAStart) {
    for (const std::string role : {"access-nj", "access-lon"}) {
        ASSERT_EQ(cloud.begin({.id = "during-" + role}).status, 200);
        cloud.wait_for_another(role, cloud.kill9(role));
    }
    expect_whole("during-access-nj");
    expect_whole("during-access-lon");
}

TEST_F(Crash, TheAgentAtEveryStepOfAStart) {
    int number = 0;
    // From right at the command to the middle of its probes.
    for (const int after_ms : {0, 150, 400, 900}) {
        const std::string name = fmt::format("step-{}", number++);
        ASSERT_EQ(cloud.begin({.id = name, .env = {{"START_DELAY_MS", "600"}}}).status, 200);
        const std::string host =
            cloud.api("GET", "/v1/hosts/" + cloud.instance(name).at("/host")).at("/name");
        (void)cloud.web.go(sleep(*cloud.web.timers, std::chrono::milliseconds{after_ms}));
        cloud.wait_for_another("host-" + host, cloud.kill9("host-" + host));
    }
    for (int i = 0; i < number; ++i) expect_whole(fmt::format("step-{}", i));
}

TEST_F(Crash, TheAgentDuringAStop) {
    cloud.run({.id = "stopping-1"});
    const Page running = cloud.instance("stopping-1");
    const std::string host = "host-" + cloud.api("GET", "/v1/hosts/" + running.at("/host")).at("/name");
    ASSERT_EQ(cloud.api("DELETE", "/gpu-instances/stopping-1?tenantID=acme").status, 200);
    cloud.wait_for_another(host, cloud.kill9(host));
    cloud.wait_for("stopping-1", "stopped");
    EXPECT_THAT(cloud.containers(running.at("/id")), IsEmpty());
}

TEST_F(Crash, TheGatewayUnderAWebSocket) {
    const std::string url = cloud.run({.id = "socket-1"});
    auto socket = cloud.web.web_socket(url + "/ws");
    ASSERT_TRUE(socket);
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::text, "before"));
    const pid_t was = cloud.kill9("gateway");
    EXPECT_FALSE(socket->receive(5s)) << "it cannot have survived";
    cloud.wait_for_another("gateway", was);
    // At the same URL.
    EXPECT_TRUE(cloud.until([&] { return (socket = cloud.web.web_socket(url + "/ws")) != nullptr; }));
    ASSERT_TRUE(socket);
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::text, "after"));
    expect_whole("socket-1");
}

TEST_F(Crash, AllOfItAtOnce) {
    const std::string url = cloud.run({.id = "all-1"});
    ASSERT_EQ(cloud.begin({.id = "all-2"}).status, 200);
    for (const std::string role :
         {"master", "access-nj", "access-lon", "gateway", "host-nj-1", "host-lon-1", "engine"})
        cloud.kill9(role);
    EXPECT_TRUE(cloud.until([&] { return cloud.api("GET", "/v1/whoami").status == 200; }, 30s));
    expect_whole("all-1");
    expect_whole("all-2");
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
}

TEST_F(Crash, HostlerUpItselfIsStartedAgainOnTheSameData) {
    const std::string url = cloud.run({.id = "again-1"});
    ASSERT_EQ(cloud.begin({.id = "again-2"}).status, 200);
    cloud.kill9("up");
    EXPECT_TRUE(cloud.until([&] {
        return cloud.find("master") == 0 && cloud.find("host-nj-1") == 0 && cloud.find("engine") == 0;
    })) << "its roles outlive it";
    cloud.start();
    expect_whole("again-1");
    expect_whole("again-2");
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n") << "at the same URL";
}

// Stopped before the import of the demo image begins, it is killed with that import under way.
TEST_F(Crash, TheEngineDuringAnImport) {
    cloud.stop();
    std::filesystem::remove(cloud.data + "/demo-image");
    pid_t engine = 0;
    bool killed = false;
    Instant hosts_there{};
    cloud.start([&] {
        if (engine == 0 && cloud.find("master") != 0) {
            engine = cloud.find("engine");
            ::kill(engine, SIGSTOP);
        }
        if (engine == 0 || killed || cloud.find("host-lon-1") == 0) return;
        const Instant now = cloud.web.timers->now();
        if (hosts_there == Instant{}) hosts_there = now;
        if (now - hosts_there < 300ms) return;
        ::kill(engine, SIGKILL);
        killed = true;
    });
    EXPECT_TRUE(killed);
    EXPECT_NE(cloud.find("engine"), engine);
    // The hosts know of the engine's return with their next look at it.
    EXPECT_TRUE(cloud.until([&] { return cloud.begin({.id = "imported-1"}).status == 200; }));
    expect_whole("imported-1");
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator{cloud.data + "/engine/tmp"})
        if (entry.path().filename() != "firewall") left.push_back(entry.path().filename());
    EXPECT_LE(left.size(), 1u) << "of the import that ended: " << ::testing::PrintToString(left);
}

TEST_F(Crash, CtrlCLeavesOnlyTheDataAndTheNextStartGoesOn) {
    const Page volume =
        cloud.api("POST", "/v1/volumes", {{"name", "kept"}, {"size", "1Gi"}, {"tenantID", "acme"}});
    const std::string url = cloud.run({.id = "rest-1", .storage = "kept", .mount = "/data"});
    EXPECT_EQ(cloud.web.fetch("PUT", url + "/files/x", {}, "kept").status, 201);
    cloud.stop();
    EXPECT_TRUE(cloud.until([&] { return cloud.processes().empty(); }))
        << ::testing::PrintToString(cloud.processes());
    EXPECT_THAT(cloud.mounts(), IsEmpty());
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").status, 0);
    cloud.start();
    expect_whole("rest-1");
    EXPECT_EQ(cloud.web.fetch("GET", url + "/files/x").body, "kept") << "at the same URL";
    cloud.end("rest-1");
    EXPECT_EQ(cloud.api("DELETE", "/v1/volumes/kept?tenantID=acme").status / 100, 2);
}

}  // namespace
}  // namespace hostler::cloud

// Images that come from a registry: how far they are, why they do not come, and what a kill in the middle
// leaves.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>

#include "adapters/docker/image.h"
#include "registry.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

class Pull : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        std::ifstream file{fs::path{HOSTLER}.parent_path() / "hostler-demo", std::ios::binary};
        const std::string program{std::istreambuf_iterator<char>{file}, {}};
        registry = std::make_unique<Registry>(cloud.web, std::move(cloud.registry_listener),
                                              docker::rootfs_of_program("/demo", program + "not there yet"));
    }
    static void TearDownTestSuite() { registry.reset(); }
    void TearDown() override {
        registry->let_go();
        forget_image();
    }
    void forget_image() {
        cloud.web.unix_socket("DELETE", socket(), "/images/" + registry->image("some/demo") + "?force=true");
    }
    std::string socket() const { return cloud.data + "/engine/podman.sock"; }
    // Begun, and in the middle of its layer.
    Page begin_to_pull(const std::string& name) {
        registry->hold();
        const int before = registry->layers_begun();
        const Page begun = cloud.begin({.id = name, .image = registry->image("some/demo")});
        EXPECT_EQ(begun.status, 200) << begun.body;
        EXPECT_TRUE(cloud.until([&] { return registry->layers_begun() > before; }))
            << cloud.instance(name).body;
        return cloud.instance(name);
    }
    // It runs after all, once, and the engine has one image and no halves.
    void expect_whole(const std::string& name) {
        const Page running = cloud.wait_for(name, "running", 45s);
        EXPECT_THAT(cloud.containers(running.at("/id")), SizeIs(1));
        EXPECT_EQ(cloud.web.fetch("GET", running.at("/urls/0/url") + "healthz").body, "ok\n");
        int images = 0;
        for (const json::value& image :
             cloud.web.unix_socket("GET", socket(), "/images/json").json().as_array())
            images += at(image, "/RepoTags").find("some/demo") != std::string::npos ? 1 : 0;
        EXPECT_EQ(images, 1);
        EXPECT_TRUE(cloud.until([&] { return halves().empty(); })) << ::testing::PrintToString(halves());
        cloud.end(name);
    }
    // What of downloads lies on the disk.
    std::vector<std::string> halves() const {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator{cloud.data + "/engine/tmp"})
            if (const std::string name = entry.path().filename(); name.starts_with("storage"))
                found.push_back(name);
        return found;
    }
    static std::unique_ptr<Registry> registry;
};
std::unique_ptr<Registry> Pull::registry;

TEST_F(Pull, SaysHowFarItIs) {
    begin_to_pull("slowly");
    Page now;
    EXPECT_TRUE(cloud.until([&] {
        now = cloud.instance("slowly");
        return now.at("/message").find(" MB") != std::string::npos;
    })) << now.body;
    EXPECT_EQ(now.at("/state"), "ready");
    EXPECT_EQ(now.at("/phase"), "pulling");
    EXPECT_THAT(now.at("/message"), HasSubstr(registry->image("some/demo")));
    registry->let_go();
    expect_whole("slowly");
}

TEST_F(Pull, AnEndDoesNotWaitForIt) {
    const Page begun = begin_to_pull("unwanted");
    cloud.end("unwanted");
    EXPECT_THAT(cloud.containers(begun.at("/id")), IsEmpty());
}

TEST_F(Pull, TheAgentIsKilledInTheMiddle) {
    const Page begun = begin_to_pull("agent-dies");
    const std::string host = "host-" + cloud.api("GET", "/v1/hosts/" + begun.at("/host")).at("/name");
    cloud.wait_for_another(host, cloud.kill9(host));
    EXPECT_EQ(cloud.instance("agent-dies").at("/state"), "ready");
    registry->let_go();
    expect_whole("agent-dies");
}

TEST_F(Pull, TheEngineIsKilledInTheMiddle) {
    begin_to_pull("engine-dies");
    EXPECT_THAT(halves(), SizeIs(1)) << "or there would be nothing to leave behind";
    const int before = registry->layers_begun();
    cloud.wait_for_another("engine", cloud.kill9("engine"));
    EXPECT_TRUE(cloud.until([&] { return registry->layers_begun() > before; })) << "it is not pulled again";
    registry->let_go();
    expect_whole("engine-dies");
}

// The engine connects as the host, so that a name of an image would reach what listens on its loopback.
TEST_F(Pull, WhatListensInsideHearsNothing) {
    const int canary = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(::bind(canary, reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(::listen(canary, 16), 0);
    ::getsockname(canary, reinterpret_cast<sockaddr*>(&at), &size);
    const int open = ntohs(at.sin_port);
    std::set<std::string> sentences;
    int number = 0;
    // An open port, a closed one, and the open one in words that only a resolver takes for an address.
    for (const std::string& registry :
         {fmt::format("127.0.0.1:{}", open), std::string{"127.0.0.1:1"}, fmt::format("localhost:{}", open),
          fmt::format("2130706433:{}", open), fmt::format("127.1:{}", open)}) {
        const std::string name = fmt::format("canary-{}", ++number), image = registry + "/a/b:1";
        EXPECT_EQ(cloud.begin({.id = name, .image = image}).status, 200) << image;
        const Page failed = cloud.wait_for(name, "failed");
        EXPECT_EQ(failed.at("/reason"), "registry_refused") << failed.body;
        const std::string message = failed.at("/message");
        sentences.insert(message.substr(message.find(image) + image.size()));
        EXPECT_TRUE(cloud.until([&] { return cloud.containers(failed.at("/id")).empty(); }));
    }
    EXPECT_THAT(sentences, SizeIs(1)) << "an open port is told from a closed one";
    EXPECT_EQ(::accept(canary, nullptr, nullptr), -1);
    ::close(canary);
}

TEST_F(Pull, EveryNoHasItsOwnSentence) {
    struct Case {
        std::string name, image, reason;
    };
    const Case cases[] = {{"nobody-has-it", registry->image("no/such"), "image_unavailable"},
                          {"not-for-us", registry->image("a/secret"), "image_unauthorized"},
                          {"denied-to-us", registry->image("a/denied"), "image_unauthorized"},
                          {"registry-broken", registry->image("a/broken"), "registry_unreachable"},
                          {"registry-away", "127.0.0.1:9/nobody/there:1", "registry_unreachable"},
                          {"registry-inside", "169.254.169.254/latest/meta-data:1", "registry_refused"},
                          {"only-local", "localhost/nobody-has-this:1", "image_unavailable"}};
    const std::string idle = cloud.whole_stock("small");
    for (const Case& one : cases)
        EXPECT_EQ(cloud.begin({.id = one.name, .image = one.image}).status, 200) << one.name;
    std::map<std::string, std::set<std::string>> sentences;  // By reason.
    for (const Case& one : cases) {
        // A registry that cannot be reached is asked for half a minute and more.
        const Page failed = cloud.wait_for(one.name, "failed", 120s);
        EXPECT_EQ(failed.at("/reason"), one.reason) << failed.body;
        const std::string message = failed.at("/message");
        EXPECT_THAT(message, HasSubstr(one.image));
        sentences[one.reason].insert(message.substr(message.find(one.image) + one.image.size()));
        EXPECT_TRUE(cloud.until([&] { return cloud.containers(failed.at("/id")).empty(); }));
    }
    // What a registry or a port answered in detail is in the agent's log, and not for tenants.
    for (const char* reason : {"image_unauthorized", "registry_unreachable", "registry_refused"})
        EXPECT_THAT(sentences[reason], SizeIs(1)) << reason;
    std::set<std::string> different;
    for (const auto& [reason, of_it] : sentences) different.insert(of_it.begin(), of_it.end());
    EXPECT_THAT(sentences["image_unavailable"], SizeIs(2)) << "one that is asked of no registry";
    EXPECT_EQ(different.size(), 5u) << ::testing::PrintToString(different);
    EXPECT_TRUE(cloud.until([&] { return cloud.stock("small").at("/idle") == idle; }))
        << cloud.stock("small").body;
}

}  // namespace
}  // namespace hostler::cloud

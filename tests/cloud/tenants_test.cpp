// A second tenant, who tries everything that is the first one's.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <fstream>
#include <set>

#include "adapters/docker/bodies.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Tenants : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        ASSERT_EQ(
            cloud.api("POST", "/v1/volumes", {{"name", "secrets"}, {"size", "1Gi"}, {"tenantID", "acme"}})
                    .status /
                100,
            2);
        first = cloud.run({.id = "first-1", .storage = "secrets", .mount = "/data", .open_to_all = false});
        host = cloud.instance("first-1").at("/host");
        second = cloud.run({.id = "second-1", .tenant = "other", .open_to_all = true});
    }
    static void TearDownTestSuite() {
        Cloud::shared().end("first-1");
        Cloud::shared().end("second-1", "other");
    }
    static std::string first, second, host;

    // What a program inside of an instance gets when it connects there.
    std::string connect_from(const std::string& url, const std::string& to, int port) {
        const Page page = cloud.web.fetch("GET", fmt::format("{}/connect?host={}&port={}", url, to, port));
        EXPECT_EQ(page.status, 200) << page.body;
        return page.body;
    }
};
std::string Tenants::first, Tenants::second, Tenants::host;

TEST_F(Tenants, NothingOfAnothersIsThere) {
    const std::string& key = cloud.tenant("other").key;
    const std::string id = cloud.instance("first-1").at("/id");
    for (const std::string& name : {std::string{"first-1"}, id}) {
        for (const std::string path : {"/gpu-instances/", "/v1/instances/"})
            EXPECT_EQ(cloud.api("GET", path + name, nullptr, key).status, 404) << path << name;
        EXPECT_EQ(cloud.api("DELETE", "/gpu-instances/" + name, nullptr, key).status, 404);
        for (const std::string what : {"/logs", "/events", "/explain"})
            EXPECT_EQ(cloud.api("GET", "/v1/instances/" + name + what, nullptr, key).status, 404) << what;
        // Saying whose it is does not make it mine.
        EXPECT_THAT(cloud.api("GET", "/v1/instances/" + name + "?tenantID=acme", nullptr, key).status,
                    AnyOf(403, 404));
        EXPECT_THAT(cloud.api("DELETE", "/gpu-instances/" + name + "?tenantID=acme", nullptr, key).status,
                    AnyOf(403, 404));
    }
    // Records of refused calls name what the caller wrote.
    for (const std::string list : {"/v1/instances?all=true", "/v1/volumes", "/v1/networks", "/v1/events",
                                   "/v1/operations", "/v1/api-keys", "/v1/audit?result=ok"}) {
        const Page page = cloud.api("GET", list, nullptr, key);
        EXPECT_THAT(page.body, Not(HasSubstr("acme"))) << list;
        EXPECT_THAT(page.body, Not(HasSubstr(id))) << list;
    }
    for (const std::string path : {"/v1/volumes/secrets", "/v1/volumes/secrets?tenantID=acme"}) {
        EXPECT_THAT(cloud.api("GET", path, nullptr, key).status, AnyOf(403, 404));
        EXPECT_THAT(cloud.api("DELETE", path, nullptr, key).status, AnyOf(403, 404));
    }
    for (const std::string path : {"/v1/hosts", "/v1/gpus", "/v1/stocks"})
        EXPECT_EQ(cloud.api("GET", path, nullptr, key).status, 403) << path;
    EXPECT_EQ(
        cloud.api("POST", "/stocks", {{"number", 1}, {"operationID", ""}, {"specName", "small"}}, key).status,
        403);
    json::object in_their_name = cloud.body_of({.id = "intruder-1", .tenant = "acme"});
    EXPECT_EQ(cloud.api("POST", "/gpu-instances", in_their_name, key).status, 403);
    EXPECT_EQ(cloud.instance("first-1").at("/state"), "running");
}

TEST_F(Tenants, AnothersVolumeIsNoVolume) {
    const std::string by_id = cloud.api("GET", "/v1/volumes/secrets?tenantID=acme").at("/id");
    for (const std::string& name : {std::string{"secrets"}, by_id}) {
        const Page refused =
            cloud.api("POST", "/gpu-instances",
                      cloud.body_of({.id = "thief-1", .tenant = "other", .storage = name, .mount = "/data"}),
                      cloud.tenant("other").key);
        EXPECT_EQ(refused.status, 400) << refused.body;
        EXPECT_EQ(refused.at("/errors/0/field"), "storageID");
        EXPECT_EQ(cloud.instance("thief-1", "other").status, 404);
    }
}

TEST_F(Tenants, AnothersUrlIsClosed) {
    EXPECT_EQ(cloud.web.fetch("GET", first + "/", {{"Authorization", "Bearer " + cloud.tenant("other").key}})
                  .status,
              403);
    EXPECT_EQ(cloud.web.fetch("GET", first + "/").status, 401);
}

// The walls are tried on one host: what lies on another is even farther away.
TEST_F(Tenants, WallsStandBetweenThemAndAroundTheHost) {
    const std::string zone = cloud.instance("first-1").at("/zone");
    Page begun = cloud.api("POST", "/gpu-instances?zone=" + zone,
                           cloud.body_of({.id = "second-2", .tenant = "other"}));
    ASSERT_EQ(begun.status, 200) << begun.body;
    std::string url = cloud.wait_for("second-2", "running", 30s, "other").at("/urls/0/url");
    url.pop_back();
    ASSERT_EQ(cloud.instance("second-2", "other").at("/host"), host);

    struct Goal {
        std::string what, address;
        int port;
    };
    std::vector<Goal> goals;
    const auto expect_closed = [&](const std::string& to, int port, const std::string& what) {
        goals.push_back({what, to, port});
    };
    // It can connect at all: to itself.
    EXPECT_THAT(connect_from(url, "127.0.0.1", 8080), HasSubstr("connected"));
    expect_closed(cloud.instance("first-1").at("/address"), 8080, "the first tenant's instance");
    expect_closed("first-1", 8080, "the same by name");
    expect_closed(cloud.instance("first-1").at("/id"), 8080, "the same by name");

    std::vector<std::string> addresses{"169.254.169.254"};
    const auto networks = docker::parse_networks(
        cloud.web.unix_socket("GET", cloud.data + "/engine/podman.sock", "/networks").body);
    ASSERT_TRUE(networks);
    for (const auto& network : *networks)
        if (!network.gateway.empty()) addresses.push_back(network.gateway);
    ifaddrs* interfaces = nullptr;
    ASSERT_EQ(::getifaddrs(&interfaces), 0);
    for (const ifaddrs* at = interfaces; at; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET) continue;
        char text[INET_ADDRSTRLEN];
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr, text,
                    sizeof text);
        if (std::string_view{text} != "127.0.0.1" && std::ranges::find(addresses, text) == addresses.end())
            addresses.emplace_back(text);
    }
    ::freeifaddrs(interfaces);
    EXPECT_GE(addresses.size(), 3u);
    // Somebody listens on every address of the host, so that a wall is what keeps them out.
    const auto listener = cloud.web.go(
        [](Net& net) -> Task<ListenerPtr> { co_return co_await net.listen("0.0.0.0:0"); }(*cloud.web.net));
    ASSERT_TRUE(listener);
    const std::string at_all{(*listener)->address()};
    const int open_port = std::stoi(at_all.substr(at_all.rfind(':') + 1));
    for (const std::string& address : addresses) expect_closed(address, open_port, "the host");

    // The platform's own ports: they listen on the host's loopback, which is not the container's.
    std::vector<int> ports;
    for (const std::string role : {"master", "access-nj", "access-lon", "gateway"}) {
        std::ifstream file{cloud.data + "/" + role + "/addresses.json"};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        for (std::size_t colon = text.find("127.0.0.1:"); colon != std::string::npos;
             colon = text.find("127.0.0.1:", colon + 1))
            ports.push_back(std::stoi(text.substr(colon + 10)));
    }
    ports.push_back(std::stoi(cloud.api_url.substr(cloud.api_url.rfind(':') + 1)));
    EXPECT_GE(ports.size(), 8u);
    for (const auto& network : *networks)
        for (const int port : ports)
            if (!network.gateway.empty()) expect_closed(network.gateway, port, "a role");
    for (const int port : ports) expect_closed("127.0.0.1", port, "a role");
    expect_closed("169.254.169.254", 80, "the cloud's metadata");
    // All at once: each may take its time to fail.
    std::vector<std::string> tries;
    for (const Goal& goal : goals)
        tries.push_back(fmt::format("{}/connect?host={}&port={}", url, goal.address, goal.port));
    const std::vector<Page> outcomes = cloud.web.fetch_all(tries);
    for (std::size_t i = 0; i < goals.size(); ++i) {
        EXPECT_EQ(outcomes[i].status, 200) << outcomes[i].body;
        EXPECT_THAT(outcomes[i].body, Not(HasSubstr("connected")))
            << goals[i].what << " at " << goals[i].address << ":" << goals[i].port;
    }
    cloud.end("second-2", "other");
}

TEST_F(Tenants, InstancesOfOneReachEachOther) {
    const std::string zone = cloud.instance("second-1", "other").at("/zone");
    ASSERT_EQ(
        cloud.api("POST", "/gpu-instances?zone=" + zone, cloud.body_of({.id = "second-3", .tenant = "other"}))
            .status,
        200);
    const std::string address = cloud.wait_for("second-3", "running", 30s, "other").at("/address");
    EXPECT_THAT(connect_from(second, address, 8080), HasSubstr("connected"));
    EXPECT_THAT(connect_from(second, address, 8081), Not(HasSubstr("connected")));
    cloud.end("second-3", "other");
}

// Two projects of one tenant are as far from each other as two tenants.
TEST_F(Tenants, ProjectsOfOneDoNotReachEachOther) {
    const std::string& key = cloud.tenant("other").key;
    ASSERT_EQ(cloud.api("POST", "/v1/projects", {{"name", "lab"}, {"tenantID", "other"}}).status, 201);
    const std::string zone = cloud.instance("second-1", "other").at("/zone");
    json::object wanted = cloud.body_of({.id = "lab-1", .tenant = "other"});
    wanted["project"] = "lab";
    const Page begun = cloud.api("POST", "/gpu-instances?zone=" + zone, wanted, key);
    ASSERT_EQ(begun.status, 200) << begun.body;
    const Page running = cloud.wait_for("lab-1", "running", 30s, "other");
    EXPECT_EQ(running.at("/project"), "lab");
    ASSERT_EQ(running.at("/host"), cloud.instance("second-1", "other").at("/host"));
    for (const std::string& to : {std::string{running.at("/address")}, std::string{"lab-1"}})
        EXPECT_THAT(connect_from(second, to, 8080), Not(HasSubstr("connected"))) << to;
    const Page refused = cloud.api("DELETE", "/v1/projects/lab?tenantID=other");
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("instance lab-1"));
    cloud.end("lab-1", "other");
    Page deleted;
    EXPECT_TRUE(cloud.until(
        [&] {
            deleted = cloud.api("DELETE", "/v1/projects/lab?tenantID=other");
            return deleted.status / 100 == 2;
        },
        60s))
        << deleted.body;
}

// The gateway and the agent's dials are the only ways in: no port of a container is a port of the host.
TEST_F(Tenants, NoPortOfTheirsIsAPortOfTheHost) {
    const std::string socket = cloud.data + "/engine/podman.sock";
    const auto names = cloud.containers();
    EXPECT_GE(names.size(), 2u);
    for (const std::string& name : names) {
        const Page seen = cloud.web.unix_socket(
            "GET", socket, "/containers/" + name.substr(name.find_first_not_of('/')) + "/json");
        ASSERT_EQ(seen.status, 200) << seen.body;
        EXPECT_THAT(seen.body, Not(HasSubstr("\"HostPort\""))) << name;
        EXPECT_NE(seen.at("/HostConfig/NetworkMode"), "host");
        EXPECT_EQ(seen.at("/HostConfig/PublishAllPorts"), "false");
    }
    // Podman would have a container's monitor hold its port. An agent listens for nobody either.
    EXPECT_THAT(listening(cloud.find("gateway")), Not(IsEmpty())) << "or this looks at nothing";
    std::set<pid_t> roles;
    for (const std::string role : {"up", "master", "access-nj", "access-lon", "gateway"})
        roles.insert(cloud.find(role));
    std::size_t monitors = 0;
    for (const pid_t process : cloud.processes()) {
        const std::string program = std::filesystem::path{program_of(process)}.filename();
        if (roles.contains(process)) continue;
        monitors += program == "conmon" ? 1 : 0;
        EXPECT_THAT(listening(process), IsEmpty()) << program;
    }
    EXPECT_GE(monitors, 2u);
}

// The host, and whoever is in the same network, remember which machine had an address. An address is that of
// a claim: which one an instance gets is the master's choice, and another one when a slot does not fit at
// that moment or the engine still holds its address. So they are started until addresses have come again.
TEST_F(Tenants, WhoeverGetsAnAddressAgainIsReachedAtOnce) {
    constexpr int rounds_max = 8, again_least = 2;
    const std::string zone = cloud.instance("second-1", "other").at("/zone");
    std::set<std::string> seen;
    int again = 0;
    std::string told;
    for (int round = 0; round < rounds_max && again < again_least; ++round) {
        const std::string name = fmt::format("again-{}", round);
        ASSERT_EQ(
            cloud.api("POST", "/gpu-instances?zone=" + zone, cloud.body_of({.id = name, .tenant = "other"}))
                .status,
            200);
        const Page running = cloud.wait_for(name, "running", 30s, "other");
        const std::string address = running.at("/address");
        if (!seen.insert(address).second) ++again;
        told += fmt::format("{}: {}\n", address,
                            cloud.api("GET", "/v1/instances/" + name + "/events?tenantID=other").body);
        EXPECT_THAT(connect_from(second, address, 8080), HasSubstr("connected")) << name;
        EXPECT_EQ(cloud.web.fetch("GET", running.at("/urls/0/url") + "healthz").body, "ok\n");
        cloud.end(name, "other");
    }
    EXPECT_GE(again, again_least) << told;
}

}  // namespace
}  // namespace hostler::cloud

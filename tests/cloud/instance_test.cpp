// The second flow of the source: start an instance with a volume, from stock, and end it.
#include <fstream>
#include <set>

#include "adapters/docker/opens.h"
#include "adapters/docker/process.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;

class Instance : public Shared {};

TEST_F(Instance, AVolumesDataOutlivesIt) {
    const Page volume =
        cloud.api("POST", "/v1/volumes", {{"name", "models"}, {"size", "1Gi"}, {"tenantID", "acme"}});
    ASSERT_EQ(volume.status / 100, 2) << volume.body;
    const Wish first{.id = "keeper-1", .storage = volume.at("/id"), .mount = "/data"};
    const std::string url = cloud.run(first);
    EXPECT_EQ(cloud.web.fetch("PUT", url + "/files/x", {}, "what is kept").status, 201);
    EXPECT_EQ(cloud.web.fetch("GET", url + "/files/x").body, "what is kept");
    const Page in_use = cloud.api("DELETE", "/v1/volumes/models?tenantID=acme");
    EXPECT_EQ(in_use.status, 409);
    EXPECT_THAT(in_use.at("/detail"), HasSubstr("keeper-1"));
    cloud.end("keeper-1");

    // By the volume's name this time.
    const std::string again = cloud.run({.id = "keeper-2", .storage = "models", .mount = "/data"});
    EXPECT_EQ(cloud.web.fetch("GET", again + "/files/x").body, "what is kept");
    cloud.end("keeper-2");

    const Page deleted = cloud.api("DELETE", "/v1/volumes/models?tenantID=acme");
    EXPECT_EQ(deleted.status / 100, 2) << deleted.body;
    EXPECT_TRUE(
        cloud.until([&] { return cloud.api("GET", "/v1/volumes/models?tenantID=acme").status == 404; }));
    const Page without = cloud.begin({.id = "keeper-3", .storage = "models", .mount = "/data"});
    EXPECT_EQ(without.status, 400);
    EXPECT_EQ(without.at("/errors/0/field"), "storageID") << without.body;
}

TEST_F(Instance, GoesThroughItsStates) {
    const std::string idle = cloud.whole_stock("small");
    const Wish wish{.id = "states-1", .env = {{"START_DELAY_MS", "1500"}, {"GREETING", "hello there"}}};
    EXPECT_EQ(cloud.begin(wish).body, "{}");
    EXPECT_EQ(cloud.api("GET", "/gpu-instances/states-1?tenantID=acme").at("/state"), "ready");
    EXPECT_EQ(cloud.stock("small").at("/idle"), std::to_string(std::stoi(idle) - 1)) << "it came from stock";
    // The same again is the same instance, another is a mistake.
    EXPECT_EQ(cloud.begin(wish).status, 200);
    EXPECT_EQ(cloud.begin({.id = "states-1"}).status, 409);
    const Page running = cloud.wait_for("states-1", "running");
    EXPECT_EQ(cloud.api("GET", "/gpu-instances/states-1?tenantID=acme").at("/state"), "running");
    EXPECT_EQ(cloud.containers(running.at("/id")).size(), 1u);
    const Page seen = cloud.web.fetch("GET", running.at("/urls/0/url") + "env");
    EXPECT_EQ(seen.at("/GREETING"), "hello there");

    EXPECT_EQ(cloud.api("DELETE", "/gpu-instances/states-1?tenantID=acme").body, "{}");
    cloud.wait_for("states-1", "stopped");
    EXPECT_TRUE(cloud.until([&] { return cloud.stock("small").at("/idle") == idle; }))
        << "its slot was not refilled";
    EXPECT_EQ(cloud.api("GET", "/gpu-instances/states-1?tenantID=acme").at("/state"), "stopped");
    EXPECT_TRUE(cloud.until([&] { return cloud.containers(running.at("/id")).empty(); }));
    EXPECT_EQ(cloud.api("DELETE", "/gpu-instances/states-1?tenantID=acme").status, 200)
        << "again is no mistake";
    EXPECT_EQ(cloud.begin(wish).status, 200) << "what has ended and was deleted gives its id back";
    EXPECT_NE(cloud.instance("states-1").at("/id"), running.at("/id"));
    cloud.end("states-1");
}

// What iptables answered is kept by the engine that `up` started. See src/iptables.
TEST_F(Instance, AStartAsksTheFirewallThroughOurs) {
    cloud.run({.id = "firewall-1"});
    EXPECT_FALSE(std::filesystem::is_empty(cloud.data + "/engine/tmp/firewall"));
    cloud.end("firewall-1");
}

TEST_F(Instance, RunsTheCommandThatItIsGiven) {
    // Split as a shell would: the demo program takes its port as an argument.
    Wish wish{.id = "command-1", .cmd = "/demo '8080'"};
    const std::string url = cloud.run(wish);
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    cloud.end("command-1");
}

TEST_F(Instance, GetsTheGpusThatItHolds) {
    const std::string url = cloud.run({.id = "gpus-1"});
    const Page instance = cloud.instance("gpus-1");
    const Page inside = cloud.web.fetch("GET", url + "/gpus");
    EXPECT_EQ(inside.at("/count"), "1") << inside.body;
    EXPECT_EQ(instance.json().at("gpus").as_array().size(), 1u);
    EXPECT_EQ(cloud.api("GET", "/v1/gpus/" + instance.at("/gpus/0")).at("/heldBy"), instance.at("/id"));
    EXPECT_EQ(instance.at("/simulated"), "true");
    cloud.end("gpus-1");
}

std::string text_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// What becomes of a word of the shell's in the control group that decides on the devices of a container.
docker::Outcome in_group_of(const std::string& pid, const std::string& command) {
    const auto group =
        docker::device_group(text_of("/proc/" + pid + "/cgroup"), text_of("/proc/self/mountinfo"));
    EXPECT_TRUE(group) << "of process " << pid;
    if (!group) return {};
    const auto ran =
        docker::run_process({"sh", "-c", fmt::format("echo 0 >{} && {}", group->file(), command)}, {}, 10s);
    EXPECT_TRUE(ran) << ran.error().message;
    return ran.value_or(docker::Outcome{});
}

// The simulated GPUs are devices of this machine that a container opens only when it is given them.
TEST_F(Instance, OpensItsOwnGpusAndNoNeighbours) {
    const std::string url = cloud.run({.id = "opens-1"});
    EXPECT_EQ(cloud.web.fetch("GET", url + "/attack?what=open-gpus").body, "done\n");
    const Page instance = cloud.instance("opens-1");
    const auto containers = cloud.containers(instance.at("/id"));
    ASSERT_EQ(containers.size(), 1u);
    const std::string pid =
        cloud.web.unix_socket("GET", cloud.engine_socket, "/containers" + containers.front() + "/json")
            .at("/State/Pid");
    // What stands for the GPUs of its host, by the file from which its agent knows.
    const std::string host = cloud.api("GET", "/v1/hosts/" + instance.at("/host")).at("/name");
    const json::value cdi = json::parse(text_of(cloud.data + "/hosts/" + host + "/cdi/simulated.json"));
    std::string own;
    std::set<std::string> neighbours;
    for (const json::value& device : cdi.at("devices").as_array()) {
        const std::string node = at(device, "/containerEdits/deviceNodes/0/hostPath");
        if (at(device, "/name") == instance.at("/gpus/0"))
            own = node;
        else
            neighbours.insert(node);
    }
    neighbours.erase(own);
    ASSERT_FALSE(own.empty()) << text_of(cloud.data + "/hosts/" + host + "/cdi/simulated.json");
    EXPECT_EQ(in_group_of(pid, "exec 3<>" + own).exit_code, 0) << own;
    for (const std::string& node : neighbours) {
        const auto refused = in_group_of(pid, "exec 3<>" + node);
        EXPECT_NE(refused.exit_code, 0) << node;
        EXPECT_THAT(refused.output, HasSubstr("Operation not permitted")) << node;
    }
    cloud.end("opens-1");
    if (neighbours.empty()) GTEST_SKIP() << "too few devices of this machine can stand for GPUs";
}

TEST_F(Instance, WithoutStockItIsPlacedDirectlyOrRefusedWithTheReason) {
    const json::object all{{"number", 1}, {"operationID", "wide-1"}, {"specName", "wide"},
                           {"cpu", "8"},  {"memory", "8Gi"},         {"gpuType", "H100 SXM5 80GB"},
                           {"gpuNum", 5}};
    ASSERT_EQ(cloud.api("POST", "/stocks", all).status, 200);
    ASSERT_EQ(cloud.api("DELETE", "/stocks?number=1&operationID=wide-2&specName=wide").status, 200);
    const int free = cloud.gpus_free();
    // On how many hosts there is room for one depends on where the stock of others lies.
    std::vector<std::string> running;
    while (std::ranges::max(cloud.free_gpus()) >= 5) {
        running.push_back(fmt::format("wide-{}", running.size() + 1));
        cloud.run({.id = running.back(), .spec = "wide"});
        EXPECT_EQ(cloud.gpus_free(), free - 5 * std::ssize(running));
    }
    EXPECT_FALSE(running.empty());
    const Page refused = cloud.begin({.id = "wide-none", .spec = "wide"});
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.at("/code"), "insufficient_capacity") << refused.body;
    EXPECT_FALSE(refused.at("/help").empty());
    EXPECT_EQ(cloud.instance("wide-none").status, 404) << "nothing partial is left behind";
    for (const std::string& id : running) cloud.end(id);
    EXPECT_TRUE(cloud.until([&] { return cloud.gpus_free() == free; }));
}

TEST_F(Instance, IsFoundByItsLabels) {
    const auto labelled = [&](const std::string& name, const std::string& label) {
        return cloud.cli({"instance", "create", name, "--tenant", "acme", "--spec", "small", "--image",
                          cloud.image, "--label", label, "--label", "acme.com/run=7"});
    };
    ASSERT_EQ(labelled("labelled-1", "team=ml").code, 0);
    ASSERT_EQ(labelled("labelled-2", "team=ops").code, 0);
    EXPECT_EQ(labelled("labelled-2", "te am=ops").code, 2);
    const auto found = [&](const std::string& label) {
        return cloud.cli({"instance", "list", "--label", label, "--label", "acme.com/run", "-o", "name"}).out;
    };
    EXPECT_THAT(found("team=ml"), AllOf(HasSubstr("labelled-1"), Not(HasSubstr("labelled-2"))));
    EXPECT_EQ(cloud.cli({"instance", "update", "labelled-2", "--label", "team=ml"}).code, 0);
    EXPECT_THAT(found("team=ml"), AllOf(HasSubstr("labelled-1"), HasSubstr("labelled-2")));
    EXPECT_THAT(cloud.cli({"instance", "get", "labelled-2"}).out, HasSubstr("acme.com/run=7, team=ml"));
    // The network that they are in has a name, which stays with it.
    EXPECT_EQ(cloud.cli({"network", "rename", "default", "lab", "--tenant", "acme"}).code, 0);
    EXPECT_THAT(cloud.cli({"network", "list"}).out, HasSubstr("lab"));
    EXPECT_THAT(cloud.cli({"instance", "get", "labelled-2", "-o", "yaml"}).out, HasSubstr("network: lab"));
    EXPECT_EQ(cloud.cli({"network", "rename", "lab", "default", "--tenant", "acme"}).code, 0);
    for (const char* name : {"labelled-1", "labelled-2"}) {
        EXPECT_EQ(cloud.cli({"instance", "delete", name, "--yes"}).code, 0);
        cloud.wait_for(name, "stopped");
    }
}

TEST_F(Instance, ItsHostHasSerialNumbersAndAddresses) {
    boost::system::error_code error;
    const json::value hosts = json::parse(cloud.cli({"host", "list", "-o", "json"}).out, error);
    const json::value host =
        json::parse(cloud.cli({"host", "get", at(hosts, "/0/id"), "-o", "json"}).out, error);
    EXPECT_TRUE(at(host, "/machine/serialNumber").starts_with("SIM")) << host;
    EXPECT_EQ(at(host, "/machine/systemUuid").size(), 36u) << host;
    EXPECT_FALSE(at(host, "/machine/gpuSerialNumbers/0").empty()) << host;
    for (const json::value& address : host.at_pointer("/machine/addresses").as_array())
        EXPECT_FALSE(address.as_string().starts_with("127.")) << host;
}

TEST_F(Instance, IsStartedAndShownByTheCommandLine) {
    const Ran started = cloud.cli({"instance", "create", "typed-1", "--tenant-id", "acme", "--spec-name",
                                   "small", "--image", cloud.image, "--port", "8080,public,probe", "--wait"});
    EXPECT_EQ(started.code, 0) << started.err;
    const Ran shown = cloud.cli({"instance", "get", "typed-1", "-o", "json"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    boost::system::error_code error;
    const json::value value = json::parse(shown.out, error);
    EXPECT_EQ(at(value, "/state"), "running") << shown.out;
    EXPECT_EQ(cloud.web.fetch("GET", at(value, "/urls/0/url") + "healthz").status, 200);
    EXPECT_THAT(cloud.cli({"logs", "typed-1"}).out, HasSubstr("listening on port 8080"));
    EXPECT_THAT(cloud.cli({"instance", "list"}).out, HasSubstr("typed-1"));
    EXPECT_EQ(cloud.cli({"instance", "delete", "typed-1", "--yes"}).code, 0);
    // Who did that, and with which program, is read while the master has the store.
    const Ran audit = cloud.cli({"audit", "list", "--subject", "instance/" + at(value, "/id"), "-o", "json"});
    EXPECT_EQ(audit.code, 0) << audit.err;
    const json::value lines = json::parse(audit.out, error);
    EXPECT_EQ(at(lines, "/0/operation"), "deleteInstance") << audit.out;
    EXPECT_THAT(at(lines, "/0/client"), HasSubstr("hostler/"));
    EXPECT_EQ(at(lines, "/1/operation"), "createInstance") << audit.out;
    EXPECT_EQ(cloud.cli({"instance", "get", "nobody"}).code, 3);
    EXPECT_EQ(cloud.cli({"instance", "nonsense"}).code, 2);
    EXPECT_EQ(cloud.cli({"instance", "list"}, "hk_wrong").code, 4);
    cloud.wait_for("typed-1", "stopped");
}

}  // namespace
}  // namespace hostler::cloud

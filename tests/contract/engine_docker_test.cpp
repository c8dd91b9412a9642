// The Engine and HostNetwork ports on real engines, podman and dockerd, and what only real containers can
// show: limits and devices; wall_docker_test.cpp has the walls.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/docker/inside.h"
#include "adapters/docker/opens.h"
#include "containers.h"
#include "network_contract.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Real, EngineContract, engines, kind_name);
INSTANTIATE_TEST_SUITE_P(Real, NetworkContract, engines, kind_name);

// A rig goes, with all that it made, when the tests are over.
class Cleanup : public ::testing::Environment {
    void TearDown() override {
        PodmanRig::drop();
        DockerRig::drop();
    }
};
[[maybe_unused]] const auto* const cleanup = ::testing::AddGlobalTestEnvironment(new Cleanup);

INSTANTIATE_TEST_SUITE_P(Real, Containers, engines, kind_name);

class OnPodman : public Containers {};  // What dockerd keeps in order itself.

INSTANTIATE_TEST_SUITE_P(Real, OnPodman, ::testing::Values(podman), kind_name);

TEST_P(Containers, LimitsHold) {
    const auto network = make_network(1);
    const auto at = serve(network, 9, "a", [](auto& spec) {
        spec.cpu_milli = 250;
        spec.memory_bytes = 48 << 20;
        spec.pids_max = 20;
    });
    EXPECT_EQ(rig().get(at, "/alloc?mib=8"), "held\n");
    EXPECT_THAT(std::atoi(rig().get(at, "/burn?ms=1200").c_str()),
                AllOf(::testing::Gt(100), ::testing::Lt(400)));
    EXPECT_THAT(std::atoi(rig().get(at, "/spawn?n=100").c_str()), AllOf(::testing::Gt(5), ::testing::Lt(20)));
    EXPECT_TRUE(run(sleep(rig().timers(), 1200ms)));  // Until those processes have ended.
    http::Client client{rig().net(), rig().timers()};
    http::Request request{.target = "/alloc?mib=200"};
    request.headers.set("Host", "x");
    EXPECT_FALSE(run(client.fetch({at + ":8080"}, std::move(request))));
    const auto killed = wait_until(ContainerState::exited);
    EXPECT_EQ(killed.exit_code, 137);
    EXPECT_TRUE(killed.oom_killed);
}

TEST_P(Containers, AStreamOfEventsEndsWithTheEngine) {
    TaskGroup stream{rig_->loop()};
    bool follows = false;
    stream.start("events", rig_->events().follow(label, name(), [&](EngineNews) { follows = true; }));
    const auto end = rig_->timers().now() + 10s;
    while (!follows && rig_->timers().now() < end) EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
    ASSERT_TRUE(follows);
    rig_->crash();
    while (stream.size() > 0 && rig_->timers().now() < end) EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
    EXPECT_EQ(stream.size(), 0U);
    ASSERT_TRUE(run(stream.close()));
}

// Whoever learns the id of an image that another pulled does not have it, however much of it is given.
TEST_P(Containers, AnImageIsNotRunByItsId) {
    auto spec = rig_->server(name());
    http::Client client{rig().net(), rig().timers()};
    http::Request request{.method = "GET", .target = docker::target("/images/json", {})};
    request.headers.set("Host", "engine");
    const auto answer = run(client.fetch({"unix:" + rig().engine_settings().socket}, std::move(request)));
    ASSERT_TRUE(answer && answer->status == 200);
    std::string id = boost::json::parse(answer->body).at(0).at("Id").as_string().c_str();
    if (id.starts_with("sha256:")) id = id.substr(7);
    ASSERT_EQ(id.size(), 64u);
    for (const std::string& by : {id, "sha256:" + id, id.substr(0, 12), id.substr(0, 6)}) {
        spec.image = by;
        const auto refused = run(rig_->engine().launch(spec));  // Not pulled: that is refused for itself.
        EXPECT_TRUE(!refused && refused.error().reason == Engine::image_missing) << by;
        EXPECT_TRUE(list().empty());
    }
}

// As an engine leaves it that is killed while it makes a container: it has forgotten the network. It may run
// already, as when the agent was killed too before it had looked.
TEST_P(Containers, OneThatWasMadeWithoutItsNetworkIsMadeAnew) {
    const auto half = rig_->server(name());
    for (const bool runs : {false, true}) {
        // A network each: on podman the second container in one network was seen without its address or
        // unreachable.
        const auto network = make_network(runs ? 2 : 1);
        create_without_network(half);
        if (runs) post("/containers/" + half.name + "/start", "", 204);
        EXPECT_EQ(rig().get(serve(network, 9), "/healthz"), "ok\n");
        ASSERT_TRUE(run(rig_->engine().remove(half.name)));
    }
}

// As podman leaves it that is killed between making a container's storage and writing the container down.
TEST_P(OnPodman, StorageThatAKilledEngineLeftDoesNotKeepTheName) {
    const auto network = make_network(1);
    const auto half = rig_->server(name());
    const std::string books = rig().folder() + "/before.db";
    const std::string book = shell(fmt::format("find {} -name bolt_state.db | tr -d '\n'", rig().folder()));
    ASSERT_FALSE(book.empty());
    ASSERT_EQ(shell(fmt::format("cp {} {} && echo kept", book, books)), "kept\n");
    create_without_network(half);
    ASSERT_EQ(shell(fmt::format("cp {} {} && echo lost", books, book)), "lost\n");
    create_without_network(half, 500);
    EXPECT_EQ(rig().get(serve(network, 9), "/healthz"), "ok\n");
}

// As an engine leaves it that is killed while it makes a container or takes it away.
TEST_P(OnPodman, ABridgeThatIsLeftGoesWithItsNetwork) {
    const auto network = make_network(1);
    const std::string bridge = docker::bridge_name(network.id), cable = "c" + bridge.substr(1);
    ASSERT_EQ(shell(fmt::format("ip link show {0} >/dev/null 2>&1 || ip link add {0} type bridge && "
                                "ip link add {1} type veth peer name {1}x && "
                                "ip link set {1} master {0} && ip link set {0} up && echo made",
                                bridge, cable.substr(0, 13))),
              "made\n");
    ASSERT_TRUE(run(rig_->network().remove(network.id)));
    EXPECT_EQ(shell(fmt::format("ip -br link | grep -e {} -e {} || echo gone", bridge, cable.substr(0, 13))),
              "gone\n");
}

// As after somebody has removed the mount of its network namespace by hand.
TEST_P(Containers, OneThatTheEngineCannotListHidesNoOther) {
    const auto network = make_network(1);
    const auto together = [](auto& spec) { spec.labels["hostler.host"] = "one"; };
    serve(network, 9, "a", together);
    serve(network, 10, "b", together);
    ASSERT_EQ(rig().get(serve(network, 11, "c", together), "/healthz"), "ok\n");
    for (const auto* bad : {"a", "c"}) {
        const auto path = rig().look_at(name(bad)).network_namespace;
        ASSERT_NE(path, "");
        ASSERT_EQ(rig().shell_of_engine(fmt::format("umount -l {0} && rm -f {0} && echo gone", path)),
                  "gone\n");
    }
    const auto all = run(rig_->engine().list("hostler.host", "one"));
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(all->size(), 3U);
    for (const auto& one : *all) {
        EXPECT_EQ(one.state, ContainerState::running) << one.name;
        EXPECT_EQ(one.labels.at("hostler.host"), "one") << one.name;
    }
    EXPECT_EQ(rig().get(serve(network, 12, "d", together), "/healthz"), "ok\n");
    ASSERT_TRUE(run(rig_->engine().stop(name("a"), 0s)));
    for (const auto* bad : {"a", "c"}) ASSERT_TRUE(run(rig_->engine().remove(name(bad))));
    EXPECT_EQ(run(rig_->engine().list("hostler.host", "one"))->size(), 2U);
}

// Podman's service on a machine whose mounts are not shared, as in a container or without systemd.
class OnUnsharedPodman : public Containers {};
INSTANTIATE_TEST_SUITE_P(Real, OnUnsharedPodman,
                         ::testing::Values(EngineKind{"podman", [] { return PodmanRig::unshared(); }}),
                         kind_name);
class OnPodmanAsFound : public Containers {};
INSTANTIATE_TEST_SUITE_P(Real, OnPodmanAsFound,
                         ::testing::Values(EngineKind{"podman", [] { return PodmanRig::unshared(true); }}),
                         kind_name);

TEST_P(OnUnsharedPodman, NoNetworkNamespaceStays) {
    const auto network = make_network(1);
    for (const auto* one : {"a", "b", "c"}) {
        ASSERT_EQ(rig().get(serve(network, 9, one), "/healthz"), "ok\n");
        const auto path = rig().look_at(name(one)).network_namespace;
        ASSERT_TRUE(std::filesystem::exists(path)) << path;
        ASSERT_TRUE(run(rig_->engine().stop(name(one), 0s)));
        const auto end = rig_->timers().now() + 10s;
        while (std::filesystem::exists(path) && rig_->timers().now() < end)
            EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
        EXPECT_FALSE(std::filesystem::exists(path)) << path;
        ASSERT_TRUE(run(rig_->engine().remove(name(one))));
    }
}

// Podman cannot take their networks down.
TEST_P(OnPodmanAsFound, WhatStaysGoesWithTheContainer) {
    const auto network = make_network(1);
    int number = 9;
    for (const auto* one : {"a", "b", "c"}) {
        ASSERT_EQ(rig().get(serve(network, number++, one), "/healthz"), "ok\n");
        const auto path = rig().look_at(name(one)).network_namespace;
        ASSERT_TRUE(run(rig_->engine().remove(name(one))));
        EXPECT_FALSE(std::filesystem::exists(path)) << path;
        const auto cables = [&] {
            return shell(
                fmt::format("ls /sys/class/net/{}/brif 2>/dev/null; true", docker::bridge_name(network.id)));
        };
        const auto end = rig_->timers().now() + 10s;
        while (cables() != "" && rig_->timers().now() < end) EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
        EXPECT_EQ(cables(), "");
    }
}

// By an agent that began after its start. Nobody else's is touched.
TEST_P(OnPodman, ANamespaceThatStayedGoesWithItsContainer) {
    const auto network = make_network(1);
    serve(network, 9);
    const auto path = rig().look_at(name()).network_namespace;
    ASSERT_TRUE(run(rig_->engine().stop(name(), 0s)));
    const auto end = rig_->timers().now() + 10s;
    while (std::filesystem::exists(path) && rig_->timers().now() < end)
        EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
    const auto cable = fmt::format("ho{}", ::getpid());
    const auto others = fmt::format("/run/netns/netns-other-{}", ::getpid());
    for (const auto& one : {path, others})
        ASSERT_EQ(shell(fmt::format(
                      "touch {0} && unshare -n mount --bind /proc/self/ns/net {0} && echo there", one)),
                  "there\n");
    ASSERT_EQ(shell(fmt::format("ip link add {} type veth peer name eth0 netns {} && echo there", cable,
                                std::filesystem::path{path}.filename().string())),
              "there\n");
    docker::DockerEngine later{rig().net(), rig().timers(), rig().worker(), rig().engine_settings()};
    ASSERT_TRUE(run(later.remove(name())));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(shell(fmt::format("ip link show {} 2>/dev/null; true", cable)), "");
    EXPECT_TRUE(std::filesystem::exists(others));
    shell(fmt::format("umount {0}; rm {0}", others));
}

TEST_P(Containers, WhatIsKilledByHandIsNotCalledOutOfMemory) {
    ASSERT_TRUE(launch(rig_->server(name())));
    ASSERT_EQ(::kill(rig().process_of(name()), SIGKILL), 0);
    const auto killed = wait_until(ContainerState::exited);
    EXPECT_EQ(killed.exit_code, 137);
    EXPECT_FALSE(killed.oom_killed);
}

TEST_P(Containers, TheContainerIsConfined) {
    const auto network = make_network(1);
    const auto at = serve(network, 9);
    EXPECT_EQ(rig().get(at, "/healthz"), "ok\n");
    const auto pid = rig().process_of(name());
    const auto status = shell(fmt::format("cat /proc/{}/status", pid));
    EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
    EXPECT_THAT(status, HasSubstr("Seccomp:\t2"));
    EXPECT_THAT(status, HasSubstr("CapBnd:\t00000000800405fb"));  // Those of create.cpp, and no other.
    // What tells of the machine is covered, and what sets it cannot be written.
    const auto mounts = rig().get(at, "/attack?what=groups-seen");
    for (const auto* covered : {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"})
        if (std::filesystem::exists(covered)) EXPECT_THAT(mounts, HasSubstr(fmt::format(" {} ", covered)));
    for (const auto* fixed : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"})
        if (std::filesystem::exists(fixed)) EXPECT_THAT(mounts, HasSubstr(fmt::format(" {} ro,", fixed)));
}

TEST_P(Containers, APortBelow1024NeedsNoPrivilege) {
    const auto network = make_network(1);
    const auto at = serve(network, 9);
    EXPECT_EQ(rig().get(at, "/attack?what=low-port"), "done\n");
}

// Each of them is refused by the kernel, on every engine. Taken together: no way to more privilege than what
// a container has, to another container, to the machine.
TEST_P(Containers, NothingLeadsOut) {
    const auto network = make_network(1);
    const auto at = serve(network, 9);
    const auto attack = [&](std::string_view what) {
        return rig().get(at, fmt::format("/attack?what={}", what));
    };
    for (const auto* what :
         {"new-user", "new-network", "cloned-user", "key", "session-keys", "raw-socket", "mount", "unmount",
          "device", "ring", "program-in-kernel", "fault-handler", "kernel-log"})
        EXPECT_EQ(attack(what), "EPERM\n") << what;
    EXPECT_THAT(attack("vsock"), AnyOf("ENOSYS\n", "EPERM\n"));
    EXPECT_THAT(attack("sysctl"), AnyOf("EROFS\n", "EACCES\n", "EPERM\n"));
    EXPECT_THAT(attack("control-group"), AnyOf("EROFS\n", "EACCES\n", "EPERM\n", "ENOENT\n"));
    EXPECT_EQ(attack("setuid"), "1234 1234\n") << "a setuid program gained something";
    EXPECT_EQ(attack("trace-own"), "done\n") << "or everything is refused";
    const auto groups = attack("groups-seen");
    EXPECT_THAT(groups, HasSubstr("memory"));
    for (const auto* host : {"libpod", "docker", "hostler"}) {
        EXPECT_THAT(groups.substr(0, groups.find("\n0::/")), Not(HasSubstr(host)));
    }
}

TEST_P(Containers, RootInsideIsNobodyOutside) {
    const auto network = make_network(1);
    const auto at = serve(network, 9);
    ASSERT_EQ(rig().get(at, "/healthz"), "ok\n");
    ASSERT_TRUE(rig().ids().mapped()) << "this kernel or engine has no user namespaces";
    const auto status = shell(fmt::format("cat /proc/{}/status", rig().process_of(name())));
    const auto first = rig().ids().first_user;
    EXPECT_THAT(status, HasSubstr(fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", first)));
    EXPECT_THAT(status, HasSubstr(fmt::format("Gid:\t{0}\t{0}\t{0}\t{0}\n", rig().ids().first_group)));
    // What root of the host has is not its.
    const auto secret = rig().folder() + "/secret";
    std::ofstream{secret} << "the host's";
    std::filesystem::permissions(secret, std::filesystem::perms::owner_read);
    const auto other =
        serve(network, 10, "b", [&](auto& spec) { spec.mounts = {{secret, "/data/secret", false}}; });
    EXPECT_THAT(rig().get(other, "/files/secret"), Not(HasSubstr("the host's")));
}

// Roots of containers are the users of the host that were asked for, where the engine gives that choice; else
// all are those of its one range.
TEST_P(Containers, EachHasTheUsersThatItsEngineCanGiveIt) {
    const auto network = make_network(1);
    serve(network, 9);
    serve(network, 10, "b", [](auto& spec) { spec.ids = {0x70010000, 0x70010000}; });
    serve(network, 11, "c", [](auto& spec) { spec.ids = {}; });
    const auto user = [&](std::string_view suffix) {
        return shell(
            fmt::format("awk '/^Uid/ {{print $2}}' /proc/{}/status", rig().process_of(name(suffix))));
    };
    const bool chosen = rig().dialect() == docker::Dialect::podman;
    const auto own = fmt::format("{}\n", rig().ids().first_user);
    EXPECT_EQ(user("a"), own);
    EXPECT_EQ(user("b"), chosen ? fmt::format("{}\n", 0x70010000) : own);
    EXPECT_EQ(user("c"), chosen ? "0\n" : own) << "without user namespaces, when that is what is asked for";
}

// Two devices that runtimes open to no container by themselves, as GPUs are. Nodes of this test's own, that
// only a group of the host may open, as of some makers.
class Gpus : public Containers {
protected:
    void SetUp() override {
        Containers::SetUp();
        if (IsSkipped()) return;
        constexpr unsigned fuse = 229, autofs = 235, misc = 10;
        for (const unsigned minor : {fuse, autofs}) {
            nodes_.push_back(
                fmt::format("/dev/{}-{}", std::filesystem::path{rig().folder()}.filename().string(), minor));
            ASSERT_EQ(::mknod(nodes_.back().c_str(), S_IFCHR | 0660, makedev(misc, minor)), 0);
            const int fd = ::open(nodes_.back().c_str(), O_RDWR | O_CLOEXEC);
            if (fd < 0) GTEST_SKIP() << "this kernel has no device " << misc << ":" << minor;
            ::close(fd);
        }
        // The third is smuggled in: a node with a rule that lets nobody open it.
        write_cdi(fmt::format(R"({{"cdiVersion":"0.5.0","kind":"amd.com/gpu","devices":[
            {{"name":"0","containerEdits":{{"deviceNodes":[{{"path":"/dev/nvidia0","hostPath":"{0}"}}]}}}},
            {{"name":"1","containerEdits":{{"deviceNodes":[{{"path":"/dev/nvidia1","hostPath":"{1}"}}]}}}},
            {{"name":"smuggled","containerEdits":{{"deviceNodes":[
                {{"path":"/dev/nvidia0","hostPath":"{0}","permissions":"m"}}]}}}}]}})",
                              nodes_[0], nodes_[1]));
    }
    void TearDown() override {
        for (const auto& node : nodes_) ::unlink(node.c_str());
        Containers::TearDown();
    }
    std::string smuggler_of(const NetworkSpec& network, int number, std::string_view suffix, IdRange ids) {
        return serve(network, number, suffix, [&](auto& spec) {
            spec.cdi_devices = {"amd.com/gpu=1", "amd.com/gpu=smuggled"};
            spec.ids = ids;
        });
    }
    // In a user namespace, where the engine has them, and without one where the engine lets us choose.
    std::vector<IdRange> kinds() {
        if (rig().dialect() == docker::Dialect::podman) return {rig().ids(), IdRange{}};
        return {rig().ids()};
    }
    std::vector<std::string> nodes_;
};
INSTANTIATE_TEST_SUITE_P(Real, Gpus, engines, kind_name);

TEST_P(Gpus, ItsOwnOpenAndANeighboursDoesNot) {
    const auto network = make_network(1);
    int number = 9;
    for (const auto ids : kinds()) {
        const auto with = [&](std::vector<std::string> devices) {
            return [=](ContainerSpec& spec) {
                spec.cdi_devices = devices;
                spec.ids = ids;
            };
        };
        const auto suffix = [&] { return std::to_string(number); };
        const auto both = serve(network, number, suffix(), with({"amd.com/gpu=0", "amd.com/gpu=1"}));
        EXPECT_EQ(rig().get(both, "/attack?what=open-gpus"), "done\n") << number;
        const auto one = serve(network, ++number, suffix(), with({"amd.com/gpu=0"}));
        EXPECT_EQ(rig().get(one, "/attack?what=open-gpu"), "done\n") << number;
        const auto smuggler = smuggler_of(network, ++number, suffix(), ids);
        EXPECT_EQ(rig().get(smuggler, "/attack?what=open-gpu"), "EPERM\n") << number;
        // A folder of a tenant's, where root of a container without a user namespace could make nodes.
        const auto none = serve(network, ++number, suffix(), [&](ContainerSpec& spec) {
            spec.mounts = {{nodes_[0], "/dev/nvidia0", false}};
            spec.ids = ids;
        });
        EXPECT_THAT(rig().get(none, "/attack?what=open-gpu"), AnyOf("EPERM\n", "EACCES\n")) << number;
        ++number;
    }
}

TEST_P(Gpus, WhetherADeviceOpensIsSeenFromInside) {
    const auto network = make_network(1);
    ASSERT_EQ(rig().get(smuggler_of(network, 9, "a", rig().ids()), "/healthz"), "ok\n");
    const std::vector<docker::CdiNode> own{{"/dev/nvidia1", nodes_[1], "rw"}};
    const std::vector<docker::CdiNode> neighbours{{"/dev/nvidia0", nodes_[0], "rw"}};
    const auto pid = rig().process_of(name());
    EXPECT_TRUE(docker::check_opens(pid, own)) << docker::check_opens(pid, own).error().message;
    EXPECT_TRUE(docker::check_devices(pid, neighbours)) << "it is there";
    const auto closed = docker::check_opens(pid, neighbours);
    ASSERT_FALSE(closed);
    EXPECT_THAT(closed.error().message,
                HasSubstr("device /dev/nvidia0 does not open: Operation not permitted (EPERM)"));
    ASSERT_TRUE(run(rig_->engine().remove(name()))) << "nobody of ours is left in its control group";
    EXPECT_EQ(docker::check_opens(pid, own).error().code, Code::not_found);
}

// Podman makes everything of a container again when it starts it again.
TEST_P(Gpus, ARestartedContainerOpensThem) {
    const auto network = make_network(1);
    const auto at = serve(network, 9, "a", [](auto& spec) { spec.cdi_devices = {"amd.com/gpu=0"}; });
    EXPECT_EQ(rig().get(at, "/attack?what=open-gpu"), "done\n");
    post("/containers/" + name() + "/restart?t=5", "", 204);
    EXPECT_EQ(rig().get(at, "/attack?what=open-gpu"), "done\n");
}

// Where nobody wrote a CDI file: what lies on the host is enough.
TEST_P(Gpus, OnAHostWithADriverAloneTheyComeWithItsLibraries) {
    const std::filesystem::path host = rig().folder() + "/driver", dev = nodes_[0] + "-driver";
    const std::string lib = "/usr/lib/x86_64-linux-gnu";
    const auto put = [&](const std::string& path, std::string_view text) {
        const auto file = host / path.substr(1);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text;
        std::filesystem::permissions(file, std::filesystem::perms{0755});
    };
    put("/sys/module/nvidia/version", "580.1\n");
    for (const char* library : {"/libcuda.so.580.1", "/libnvidia-ml.so.580.1"}) put(lib + library, library);
    put("/usr/bin/nvidia-smi", "#!/bin/sh\n");
    std::filesystem::create_directory(dev);
    constexpr unsigned fuse = 229, autofs = 235, misc = 10;
    const std::pair<const char*, unsigned> made[] = {
        {"nvidiactl", fuse}, {"nvidia-uvm", fuse}, {"nvidia0", autofs}, {"nvidia1", fuse}};
    for (const auto& [node, minor] : made)
        ASSERT_EQ(::mknod((dev / node).c_str(), S_IFCHR | 0660, makedev(misc, minor)), 0);
    auto settings = rig().engine_settings();
    settings.cdi_folders = {rig().folder() + "/no-cdi"};
    settings.driver = {{host / "sys", host / "proc", dev, host / "etc"}, host};
    std::vector<GpuFacts> gpus{
        {.uuid = "GPU-1", .cdi_name = "nvidia.com/gpu=GPU-1", .device_nodes = {"/dev/nvidia0"}}};
    settings.gpus = [&] { return gpus; };
    docker::DockerEngine engine{rig().net(), rig().timers(), rig().worker(), settings};
    const auto network = make_network(1);
    auto spec = rig_->server(name());
    spec.network = network.id;
    spec.address = network.gateway.substr(0, network.gateway.rfind('.')) + ".9";
    spec.cdi_devices = {gpus[0].cdi_name};
    const auto launched = run(engine.launch(spec));
    ASSERT_TRUE(launched) << launched.error().message;
    EXPECT_EQ(rig().get(spec.address, "/attack?what=open-gpus"), "done\n");
    EXPECT_THAT(rig().get(spec.address, "/gpus"),
                HasSubstr(R"("/dev/nvidia-uvm","/dev/nvidia0","/dev/nvidiactl")"));
    EXPECT_THAT(rig().get(spec.address, "/env"), HasSubstr(R"("LD_LIBRARY_PATH":")" + lib + "\""));
    const auto mounts = rig().get(spec.address, "/attack?what=groups-seen");
    for (const auto& path : {lib + "/libcuda.so.580.1", lib + "/libcuda.so.1", lib + "/libnvidia-ml.so.1",
                             std::string{"/usr/bin/nvidia-smi"}})
        EXPECT_THAT(mounts, HasSubstr(" " + path + " ro,"));
    ASSERT_TRUE(run(engine.remove(name())));
    // Its driver was replaced, and half of the new one is there.
    put("/sys/module/nvidia/version", "590.1\n");
    const auto refused = run(engine.launch(spec));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Engine::gpu_unreachable);
    EXPECT_THAT(refused.error().message, HasSubstr("libcuda.so.590.1 is in no folder of libraries"));
    EXPECT_TRUE(list().empty());
    std::filesystem::remove_all(dev);
}

using GpusOnPodman = Gpus;
INSTANTIATE_TEST_SUITE_P(Real, GpusOnPodman, ::testing::Values(podman), kind_name);

// As of an operator's podman without the hook.
TEST_P(GpusOnPodman, OneThatItCannotOpenFailsTheLaunchAndLeavesNothing) {
    const std::string hook = rig().folder() + "/hooks/devices.json", aside = rig().folder() + "/hook";
    std::filesystem::rename(hook, aside);
    auto spec = rig_->server(name());
    spec.cdi_devices = {"amd.com/gpu=0"};
    const auto refused = launch(spec);
    spec.cdi_devices = {};
    const auto without = launch(spec);
    std::filesystem::rename(aside, hook);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_EQ(refused.error().reason, Engine::gpu_unreachable);
    EXPECT_THAT(refused.error().message,
                HasSubstr("device /dev/nvidia0 does not open: Operation not permitted (EPERM)"));
    EXPECT_TRUE(without) << "none that has a GPU";
    EXPECT_FALSE(std::filesystem::exists(rig().folder() + "/rules/" + name()));
}

// An image says what it likes of itself.
TEST_P(GpusOnPodman, AnImageGivesItselfNoDevice) {
    const auto network = make_network(1);
    serve(network, 9, "a", [](auto& spec) { spec.cdi_devices = {"amd.com/gpu=0"}; });
    ASSERT_TRUE(std::filesystem::exists(rig().folder() + "/rules/" + name()));
    // As only somebody else than the agent would: with the annotation of another container.
    ASSERT_EQ(::chmod(nodes_[0].c_str(), 0666), 0);
    const auto other = name("b");
    shell(fmt::format(
        "CONTAINERS_CONF={0}/containers.conf CONTAINERS_STORAGE_CONF={0}/storage.conf podman run --detach "
        "--name {5} --network none --uidmap 0:{1}:65536 --gidmap 0:{1}:65536 --annotation "
        "hostler.devices={2} "
        "--volume {3}:/dev/nvidia0:rw,dev {4}",
        rig().folder(), rig().ids().first_user, name(), nodes_[0], rig_->server("x").image, other));
    const auto pid = rig().process_of(other);
    ASSERT_NE(pid, 0);
    const std::vector<docker::CdiNode> node{{"/dev/nvidia0", nodes_[0], "rw"}};
    EXPECT_THAT(docker::check_opens(pid, node).error().message, HasSubstr("(EPERM)"));
    ASSERT_TRUE(run(rig_->engine().remove(other)));
}

TEST_P(Containers, MountsAreSeenAndKeepTheirData) {
    const auto network = make_network(1);
    const auto folder = rig().folder() + "/volume";
    std::filesystem::create_directories(folder);
    ASSERT_EQ(::chown(folder.c_str(), rig().ids().first_user, rig().ids().first_group), 0);
    const auto at = serve(network, 9, "a", [&](auto& spec) { spec.mounts = {{folder, "/data", false}}; });
    std::ofstream{folder + "/note"} << "from the host";
    EXPECT_EQ(rig().get(at, "/files/note"), "from the host");
    // Dockerd leaves this to how the folder is mounted on the host.
    if (rig().dialect() == docker::Dialect::podman)
        EXPECT_THAT(rig().get(at, "/attack?what=groups-seen"), HasSubstr(" /data rw,nosuid,nodev,"));
    const auto reader = serve(network, 10, "c", [&](auto& spec) { spec.mounts = {{folder, "/data", true}}; });
    EXPECT_THAT(rig().get(reader, "/attack?what=groups-seen"), HasSubstr(" /data ro,"));
    auto missing = rig_->server(name("b"));
    missing.mounts = {{folder + "/not-there", "/data", false}};
    const auto refused = launch(missing);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_FALSE(std::filesystem::exists(folder + "/not-there"));
}

TEST_P(Containers, CdiDevicesAreInside) {
    write_cdi(R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[
        {"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0","hostPath":"/dev/null"}]}},
        {"name":"1","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia1","hostPath":"/dev/zero"}]}}],
        "containerEdits":{"env":["NVIDIA_VISIBLE_DEVICES=void"],
          "deviceNodes":[{"path":"/dev/nvidiactl","hostPath":"/dev/full"}],
          "hooks":[{"hookName":"createContainer","path":"/usr/bin/nvidia-ctk","args":["nvidia-ctk","hook","update-ldcache","--folder","/usr/lib/gpu"]}]}})");
    const auto network = make_network(1);
    const auto at = serve(network, 9, "a",
                          [](auto& spec) { spec.cdi_devices = {"nvidia.com/gpu=0", "nvidia.com/gpu=1"}; });
    const auto gpus = rig().get(at, "/gpus");
    EXPECT_THAT(gpus, HasSubstr(R"("count":2)"));
    EXPECT_THAT(gpus, HasSubstr(R"("/dev/nvidia0","/dev/nvidia1","/dev/nvidiactl")"));
    EXPECT_THAT(gpus, HasSubstr("NVIDIA_VISIBLE_DEVICES=void"));
    EXPECT_THAT(rig().get(at, "/env"), HasSubstr(R"("LD_LIBRARY_PATH":"/usr/lib/gpu")"));
    // Only what was asked for.
    const auto other = serve(network, 10, "b", [](auto& spec) { spec.cdi_devices = {"nvidia.com/gpu=1"}; });
    EXPECT_THAT(rig().get(other, "/gpus"), Not(HasSubstr("/dev/nvidia0")));
}

TEST_P(Containers, ADeviceThatTheHostLacksFailsTheLaunch) {
    write_cdi(R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":"0","containerEdits":
        {"deviceNodes":[{"path":"/dev/nvidia0","hostPath":"/dev/no-such-device"}]}}]})");
    auto spec = rig_->server(name());
    spec.cdi_devices = {"nvidia.com/gpu=0"};
    const auto refused = launch(spec);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_THAT(refused.error().message, HasSubstr("/dev/no-such-device"));
    EXPECT_TRUE(list().empty());
}

// What counts is what the container has, not that the engine said yes: here a file lies where the device
// should be.
TEST_P(Containers, ADeviceThatIsNotReallyInsideFailsTheLaunchAndLeavesNothing) {
    write_cdi(R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":"0","containerEdits":
        {"deviceNodes":[{"path":"/dev/nvidia0","hostPath":"/dev/null"}]}}]})");
    const auto file = rig().folder() + "/not-a-device";
    std::ofstream{file} << "x";
    auto spec = rig_->server(name());
    spec.cdi_devices = {"nvidia.com/gpu=0"};
    spec.mounts = {{file, "/dev/nvidia0", false}};
    const auto refused = launch(spec);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("/dev/nvidia0"));
    EXPECT_TRUE(list().empty());
}

TEST_P(Containers, ACommandThatIsNotInTheImageIsInvalidAndLeavesNothing) {
    for (const bool no_init : {false, true}) {
        auto spec = rig_->server(name());
        spec.command = {"/no-such-command"};
        spec.no_init = no_init;
        const auto refused = launch(spec);
        ASSERT_FALSE(refused) << no_init << ' ' << refused->exit_code << ' '
                              << text_of(log_pieces(run(rig_->engine().logs(name(), {}))->pieces));
        EXPECT_EQ(refused.error().code, Code::invalid);
        EXPECT_THAT(refused.error().message, HasSubstr("/no-such-command"));
        EXPECT_TRUE(list().empty());
    }
}

// kill() returns before the threads of another process have stopped.
bool all_threads_stopped(int pid) {
    for (const auto& task : std::filesystem::directory_iterator{fmt::format("/proc/{}/task", pid)}) {
        std::ifstream file{task.path() / "stat"};
        const std::string stat{std::istreambuf_iterator<char>{file}, {}};
        const auto name_end = stat.rfind(") ");
        if (name_end == std::string::npos || stat[name_end + 2] != 'T') return false;
    }
    return true;
}

TEST_P(Containers, AnEngineThatHangsOrIsAwayIsAnErrorInTime) {
    auto settings = rig().engine_settings();
    settings.call_time = 300ms;
    docker::DockerEngine hasty{rig().net(), rig().timers(), rig().worker(), settings};
    ::kill(rig().service(), SIGSTOP);
    while (!all_threads_stopped(rig().service())) std::this_thread::yield();
    const auto begin = std::chrono::steady_clock::now();
    const auto hung = run(hasty.list(label, "x"));
    ::kill(rig().service(), SIGCONT);
    ASSERT_FALSE(hung);
    EXPECT_EQ(hung.error().code, Code::timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_TRUE(run(rig_->engine().list(label, "x")));
    settings.socket = rig().folder() + "/nobody.sock";
    docker::DockerEngine nobody{rig().net(), rig().timers(), rig().worker(), settings};
    const auto away = run(nobody.list(label, "x"));
    ASSERT_FALSE(away);
    EXPECT_EQ(away.error().code, Code::unavailable);
    EXPECT_THAT(away.error().message, HasSubstr("nobody.sock"));
}

TEST_P(Containers, AnEngineIsFoundAtItsSocket) {
    const auto socket = rig().engine_settings().socket;
    const auto found = run(
        docker::find_engine_socket(rig().net(), rig().timers(), {rig().folder() + "/nobody.sock", socket}));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, socket);
    EXPECT_EQ(run(docker::find_engine_socket(rig().net(), rig().timers(), {"/tmp/nobody.sock"})).error().code,
              Code::not_found);
}

}  // namespace
}  // namespace hostler::contract

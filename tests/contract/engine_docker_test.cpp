// The Engine and HostNetwork ports on real engines, podman and dockerd, and what only real containers can
// show: limits, devices, walls.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/docker/firewall.h"
#include "host_rig.h"
#include "network_contract.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const auto engines = ::testing::Values(EngineKind{"podman", [] { return PodmanRig::shared(); }},
                                       EngineKind{"docker", [] { return DockerRig::shared(); }});

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

class Containers : public EngineContract {
protected:
    HostRig& rig() { return static_cast<HostRig&>(*rig_); }
    // A demo server in `network` with the address that ends in `number`.
    std::string serve(const NetworkSpec& network, int number, std::string_view suffix, auto change) {
        auto spec = rig_->server(name(suffix));
        spec.network = network.id;
        spec.address = network.gateway.substr(0, network.gateway.rfind('.') + 1) + std::to_string(number);
        spec.hostname = "h" + std::to_string(number);
        change(spec);
        const auto launched = launch(spec);
        EXPECT_TRUE(launched) << launched.error().message;
        return spec.address;
    }
    std::string serve(const NetworkSpec& network, int number, std::string_view suffix = "a") {
        return serve(network, number, suffix, [](auto&) {});
    }
    std::string reach(const std::string& from, std::string_view host, int port) {
        return rig().get(from,
                         "/connect?host=" + std::string(host) + "&port=" + std::to_string(port) + "&ms=500");
    }
    void write_cdi(std::string_view text) {
        std::filesystem::create_directories(rig().folder() + "/cdi");
        std::ofstream{rig().folder() + "/cdi/test.json"} << text;
    }
};

INSTANTIATE_TEST_SUITE_P(Real, Containers, engines, kind_name);

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

// GPUs of some makers can be opened by a group of the host only.
TEST_P(Containers, ADeviceThatNotEveryoneMayOpenIsOpenInside) {
    const auto device =
        fmt::format("/dev/{}-full", std::filesystem::path{rig().folder()}.filename().string());
    ASSERT_EQ(::mknod(device.c_str(), S_IFCHR | 0660, makedev(1, 7)), 0);
    write_cdi(
        fmt::format(R"({{"cdiVersion":"0.5.0","kind":"amd.com/gpu","devices":[{{"name":"0","containerEdits":
        {{"deviceNodes":[{{"path":"/dev/nvidia0","hostPath":"{}"}}]}}}}]}})",
                    device));
    const auto network = make_network(1);
    const auto at = serve(network, 9, "a", [](auto& spec) { spec.cdi_devices = {"amd.com/gpu=0"}; });
    EXPECT_EQ(rig().get(at, "/attack?what=open-gpu"), "done\n");
    // A device that was not given cannot be opened, though a node of it is there.
    const auto other =
        serve(network, 10, "b", [&](auto& spec) { spec.mounts = {{device, "/dev/nvidia0", false}}; });
    EXPECT_THAT(rig().get(other, "/attack?what=open-gpu"), AnyOf("EPERM\n", "EACCES\n"));
    EXPECT_EQ(::unlink(device.c_str()), 0);
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
    auto spec = rig_->server(name());
    spec.command = {"/no-such-command"};
    const auto refused = launch(spec);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("/no-such-command"));
    EXPECT_TRUE(list().empty());
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

// A listener on all addresses of the host, as the platform's own ports are.
class HostPort {
public:
    HostPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(fd_, 16), 0);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        port = ntohs(address.sin_port);
    }
    ~HostPort() { ::close(fd_); }
    int port = 0;

private:
    int fd_;
};

// Not of other tests' bridges, which may go meanwhile.
std::vector<std::string> host_addresses(const std::vector<std::string>& bridges) {
    std::vector<std::string> found;
    ifaddrs* all = nullptr;
    ::getifaddrs(&all);
    for (const auto* one = all; one; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
        const std::string name = one->ifa_name;
        if (name.starts_with(docker::bridge_prefix) && std::ranges::find(bridges, name) == bridges.end())
            continue;
        char text[INET_ADDRSTRLEN];
        ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof text);
        if (!std::string_view(text).starts_with("127.")) found.emplace_back(text);
    }
    ::freeifaddrs(all);
    return found;
}

TEST_P(Containers, TenantsNeitherMeetNorReachTheHost) {
    const auto first = make_network(1);
    const auto second = make_network(2);
    const auto a = serve(first, 9, "a");
    const auto b = serve(second, 9, "b");
    const auto neighbour = serve(first, 10, "c");
    // From the host there is a way in.
    ASSERT_EQ(rig().get(a, "/healthz"), "ok\n");
    ASSERT_EQ(rig().get(b, "/healthz"), "ok\n");
    ASSERT_EQ(rig().get(neighbour, "/healthz"), "ok\n");
    // Within a network too, by address and by name.
    EXPECT_EQ(reach(a, neighbour, 8080), "connected\n");
    EXPECT_EQ(reach(a, "h10", 8080), "connected\n");
    EXPECT_EQ(reach(a, neighbour, 81), "refused\n");  // The probe tells an open wall from a closed port.
    const auto closed = AnyOf("timeout\n", "unreachable\n");
    EXPECT_THAT(reach(a, b, 8080), closed);
    EXPECT_THAT(reach(b, a, 8080), closed);
    EXPECT_THAT(reach(a, "169.254.169.254", 80), closed);
    const HostPort host;
    const auto addresses = host_addresses({docker::bridge_name(first.id), docker::bridge_name(second.id)});
    EXPECT_THAT(addresses, ::testing::IsSupersetOf({first.gateway, second.gateway}));
    for (const auto& address : addresses) {
        EXPECT_THAT(reach(a, address, host.port), closed) << address;
        EXPECT_THAT(reach(b, address, host.port), closed) << address;
    }
    // The wall does it, and nothing else here: without it the host's port is open.
    shell("nft delete element inet hostler bridges '{ \"" + docker::bridge_name(first.id) + "\" }'");
    EXPECT_EQ(reach(a, first.gateway, host.port), "connected\n");
    ASSERT_TRUE(run(rig_->network().ensure(first)));
    EXPECT_THAT(reach(a, first.gateway, host.port), closed);
}

// A machine beside this one, which forwards between it and the containers: a network namespace on a cable.
class OtherMachine {
public:
    OtherMachine() {
        shell(
            fmt::format("ip netns add {0} && ip link add {1}h type veth peer name {1}o netns {0} &&"
                        "ip address add 198.18.7.1/30 dev {1}h && ip link set {1}h up &&"
                        "ip -n {0} address add {2}/30 dev {1}o && ip -n {0} link set {1}o up &&"
                        "ip -n {0} route add default via 198.18.7.1",
                        name_, cable_, address));
        inside([&] { port_.emplace(); });
    }
    ~OtherMachine() { shell(fmt::format("ip link delete {}h; ip netns delete {}", cable_, name_)); }
    OtherMachine(const OtherMachine&) = delete;
    OtherMachine& operator=(const OtherMachine&) = delete;

    int port() const { return port_->port; }
    bool connects(const std::string& to, int port) const {
        bool connected = false;
        inside([&] {
            const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const timeval patience{.tv_sec = 1, .tv_usec = 0};
            ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            sockaddr_in at{};
            at.sin_family = AF_INET;
            at.sin_port = htons(static_cast<std::uint16_t>(port));
            ::inet_pton(AF_INET, to.c_str(), &at.sin_addr);
            connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
            ::close(fd);
        });
        return connected;
    }

    static constexpr const char* address = "198.18.7.2";

private:
    void inside(const std::function<void()>& body) const {
        std::thread{[&] {
            const int space = ::open(("/run/netns/" + name_).c_str(), O_RDONLY | O_CLOEXEC);
            if (::setns(space, CLONE_NEWNET) == 0) body();
            ::close(space);
        }}.join();
    }

    std::string name_ = fmt::format("hostler-{}", ::getpid());
    std::string cable_ = fmt::format("ho{}", ::getpid());
    std::optional<HostPort> port_;
};

// Each part of the wall is taken out alone: what it alone keeps closed opens, what another keeps closed too
// does not.
TEST_P(Containers, EachPartOfTheWallHoldsByItself) {
    const auto first = make_network(1);
    const auto second = make_network(2);
    const auto a = serve(first, 9, "a");
    const auto b = serve(second, 9, "b");
    ASSERT_EQ(rig().get(a, "/healthz"), "ok\n");
    ASSERT_EQ(rig().get(b, "/healthz"), "ok\n");
    const OtherMachine other;
    const auto closed = AnyOf("timeout\n", "unreachable\n");
    ASSERT_EQ(reach(a, OtherMachine::address, other.port()), "connected\n")
        << "what is outside is open to all";
    // From outside there is no way in.
    EXPECT_FALSE(other.connects(a, 8080));
    shell("nft flush chain inet hostler tenant_in");
    if (rig().dialect() == docker::Dialect::podman)  // Dockerd closes this way, too.
        EXPECT_TRUE(other.connects(a, 8080));
    EXPECT_THAT(reach(a, b, 8080), closed) << "on its way out it is stopped as well";
    ASSERT_TRUE(run(rig_->network().ensure(first)));
    EXPECT_FALSE(other.connects(a, 8080));
    // Nor to what the host publishes for others.
    const auto table = fmt::format("ip hostler_test_{}", ::getpid());
    shell(
        fmt::format("nft 'add table {0}; add chain {0} there {{ type nat hook prerouting priority -110; }};"
                    "add rule {0} there ip daddr {1} tcp dport 7777 dnat to {2}:{3}'",
                    table, first.gateway, OtherMachine::address, other.port()));
    EXPECT_THAT(reach(a, first.gateway, 7777), closed);
    shell("nft flush chain inet hostler tenant_out");
    EXPECT_EQ(reach(a, first.gateway, 7777), "connected\n");
    EXPECT_THAT(reach(a, b, 8080), closed) << "on its way in it is stopped as well";
    ASSERT_TRUE(run(rig_->network().ensure(first)));
    EXPECT_THAT(reach(a, first.gateway, 7777), closed);
    shell("nft delete table " + table);
}

TEST_P(Containers, RemovalLeavesNothingBehind) {
    const auto mounts_before = rig().layers_mounted();
    const auto network = make_network(1);
    const auto other = make_network(2);
    const auto bridge = docker::bridge_name(network.id);
    const auto at = serve(network, 9);
    ASSERT_EQ(rig().get(at, "/healthz"), "ok\n");
    EXPECT_THAT(shell("ip -brief link"), HasSubstr(bridge));
    EXPECT_THAT(shell("nft list ruleset"), HasSubstr(bridge));
    ASSERT_TRUE(run(rig_->engine().remove(name())));
    ASSERT_TRUE(run(rig_->network().remove(network.id)));
    EXPECT_TRUE(list().empty());
    EXPECT_THAT(shell("ip -brief link"), Not(HasSubstr(bridge)));
    const auto rules = shell("nft list ruleset");
    EXPECT_THAT(rules, Not(HasSubstr(bridge)));
    EXPECT_THAT(rules, HasSubstr(docker::bridge_name(other.id)));  // Not undone with it.
    EXPECT_EQ(rig().layers_mounted(), mounts_before);
}

TEST_P(Containers, AFailedNetworkLeavesNoRule) {
    const auto network = make_network(1);
    NetworkSpec same{.id = network.id + "-x", .subnet = network.subnet, .gateway = network.gateway};
    ASSERT_FALSE(run(rig_->network().ensure(same)));
    EXPECT_THAT(shell("nft list ruleset"), Not(HasSubstr(docker::bridge_name(same.id))));
    EXPECT_EQ(run(rig_->network().ensure({"n-bad", "10.1.2.3/24", "10.1.2.1"})).error().code, Code::invalid);
    EXPECT_EQ(run(rig_->network().ensure({"n-bad", "10.1.2.0/24", "10.1.3.1"})).error().code, Code::invalid);
}

}  // namespace
}  // namespace hostler::contract

// The walls around tenants, on real engines: what is closed, and by which part of the wall.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <sched.h>

#include <atomic>
#include <future>
#include <thread>

#include "adapters/docker/firewall.h"
#include "containers.h"
#include "domain/network/reach.h"

namespace hostler::contract {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Walls : public Containers {};

INSTANTIATE_TEST_SUITE_P(Real, Walls, engines, kind_name);

// A listener on all addresses of the host, as the platform's own ports are.
class HostPort {
public:
    explicit HostPort(int wanted = 0)
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(wanted));
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0) << std::strerror(errno);
        EXPECT_EQ(::listen(fd_, 16), 0);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        port = ntohs(address.sin_port);
    }
    ~HostPort() { ::close(fd_); }
    HostPort(const HostPort&) = delete;
    HostPort& operator=(const HostPort&) = delete;

    // A connection, to be closed; -1: there is none.
    int take() const { return ::accept(fd_, nullptr, nullptr); }
    // Connections since the last time that this was asked.
    int heard() const {
        int count = 0;
        for (int one = ::accept(fd_, nullptr, nullptr); one >= 0; one = ::accept(fd_, nullptr, nullptr)) {
            ++count;
            ::close(one);
        }
        return count;
    }
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

TEST_P(Walls, TenantsNeitherMeetNorReachTheHost) {
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
    // The engine's resolver answers at the gateway (that is how the name above was found), and the host's
    // own, which listens on all addresses, does not.
    const HostPort resolver{53};
    EXPECT_THAT(reach(a, first.gateway, resolver.port), closed);
    // The wall does it, and nothing else here: without it the host's port is open.
    shell("nft delete element inet hostler bridges '{ \"" + docker::bridge_name(first.id) + "\" }'");
    EXPECT_EQ(reach(a, first.gateway, host.port), "connected\n");
    EXPECT_EQ(reach(a, first.gateway, resolver.port), "connected\n");
    ASSERT_TRUE(run(rig_->network().ensure(first)));
    EXPECT_THAT(reach(a, first.gateway, host.port), closed);
}

// A machine beside this one, which forwards between it and the containers: a network namespace on a cable. It
// has a public address, that the host knows a router to, as it does to the Internet.
class OtherMachine {
public:
    OtherMachine() {
        shell(
            fmt::format("ip netns add {0} && ip link add {1}h type veth peer name {1}o netns {0} &&"
                        "ip address add 198.18.7.1/30 dev {1}h && ip link set {1}h up &&"
                        "ip -n {0} address add {3}/30 dev {1}o && ip -n {0} link set {1}o up &&"
                        "ip -n {0} address add {2}/32 dev {1}o && ip route add {2}/32 via {3} &&"
                        "ip -n {0} route add default via 198.18.7.1 src {2}",
                        name_, cable_, address, router));
        inside([&] { port_.emplace(); });
    }
    ~OtherMachine() { shell(fmt::format("ip link delete {}h; ip netns delete {}", cable_, name_)); }
    OtherMachine(const OtherMachine&) = delete;
    OtherMachine& operator=(const OtherMachine&) = delete;

    int port() const { return port_->port; }
    int heard() const { return port_->heard(); }
    // A network of the operator that the host is connected to: PREFIX.1 is the host's, PREFIX.2 this
    // machine's.
    void share(const std::string& prefix) const {
        shell(fmt::format("ip address add {0}.1/30 dev {1}h && ip -n {2} address add {0}.2/30 dev {1}o",
                          prefix, cable_, name_));
    }
    // A network of the operator behind a router.
    void route(const std::string& to) const {
        shell(fmt::format("ip route add {0}/32 via {1} && ip -n {2} address add {0}/32 dev {3}o", to, router,
                          name_, cable_));
    }
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

    static constexpr const char* address = "11.22.33.44";
    static constexpr const char* router = "198.18.7.2";

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
TEST_P(Walls, EachPartOfTheWallHoldsByItself) {
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

TEST_P(Walls, NetworksOfTheOperatorHearNothing) {
    const auto network = make_network(1);
    const auto a = serve(network, 9, "a");
    ASSERT_EQ(rig().get(a, "/healthz"), "ok\n");
    const OtherMachine other;
    const auto closed = AnyOf("timeout\n", "unreachable\n");
    // The last is connected to, and has public addresses; before it is one that lies behind a router.
    std::vector<std::string> canaries{OtherMachine::router, "10.254.7.9"};
    other.route(canaries.back());
    for (const std::string prefix :
         {"10.255.7", "172.31.207", "192.168.207", "100.64.207", "169.254.207", "11.22.34"}) {
        other.share(prefix);
        canaries.push_back(prefix + ".2");
    }
    // An agent looks at what the host is connected to every few seconds.
    ASSERT_TRUE(run(rig().network().refresh_walls()));
    EXPECT_EQ(reach(a, OtherMachine::address, other.port()), "connected\n") << "as the Internet is";
    EXPECT_EQ(other.heard(), 1);
    for (const auto& canary : canaries) EXPECT_THAT(reach(a, canary, other.port()), closed) << canary;
    EXPECT_EQ(other.heard(), 0);
    // The wall does it, and nothing else here.
    shell("nft flush set inet hostler private; nft flush set inet hostler connected");
    for (const auto& canary : canaries) EXPECT_EQ(reach(a, canary, other.port()), "connected\n") << canary;
    EXPECT_EQ(other.heard(), static_cast<int>(canaries.size()));
    ASSERT_TRUE(run(rig().network().refresh_walls()));
    for (const auto& canary : canaries) EXPECT_THAT(reach(a, canary, other.port()), closed) << canary;
    // What the operator allows is open, and nothing beside it.
    const auto allowing = rig().network_with({.reach = parse_tenant_reach({"10.255.7.2"}).value()});
    ASSERT_TRUE(run(allowing->ensure(network)));
    for (const auto& canary : canaries)
        EXPECT_EQ(reach(a, canary, other.port()) == "connected\n", canary == "10.255.7.2") << canary;
    EXPECT_EQ(other.heard(), 1);
    ASSERT_TRUE(run(rig().network().refresh_walls()));
    EXPECT_THAT(reach(a, "10.255.7.2", other.port()), closed);
}

// A host whose way out takes less than a bridge, as a tunnel or PPPoE does, and a router there that says
// nothing when it drops what is too long: server ── router ── host.
class NarrowWay {
public:
    NarrowWay() {
        const auto made = shell(fmt::format(
            "ip netns add {0} && ip netns add {1} &&"
            "ip link add {2}h type veth peer name {2}o netns {0} &&"
            "ip -n {0} link add {2}s type veth peer name {2}r netns {1} &&"
            "ip address add 198.18.7.1/30 dev {2}h && ip link set {2}h mtu 1400 up &&"
            "ip -n {0} address add 198.18.7.2/30 dev {2}o && ip -n {0} link set {2}o mtu 1400 up &&"
            "ip -n {0} address add 198.18.7.5/30 dev {2}s && ip -n {0} link set {2}s up &&"
            "ip -n {1} address add 198.18.7.6/30 dev {2}r && ip -n {1} address add {3}/32 dev {2}r &&"
            "ip -n {1} link set {2}r up && ip -n {1} route add default via 198.18.7.5 src {3} &&"
            "ip -n {0} route add {3}/32 via 198.18.7.6 && ip -n {0} route add default via 198.18.7.1 &&"
            "ip route add {3}/32 via 198.18.7.2 && ip netns exec {0} sysctl -qw net.ipv4.ip_forward=1 &&"
            "ip netns exec {0} nft 'add table ip t; add chain ip t o {{ type filter hook output priority 0; "
            "}};"
            "add rule ip t o icmp type destination-unreachable drop' && echo made",
            router_, server_, cable_, address));
        EXPECT_EQ(made, "made\n");
        std::promise<int> port;
        auto known = port.get_future();
        thread_ = std::thread{[this, &port] { serve(port); }};
        port_ = known.get();
    }
    ~NarrowWay() {
        over_ = true;
        thread_.join();
        shell(fmt::format("ip link delete {}h; ip netns delete {}; ip netns delete {}", cable_, router_,
                          server_));
    }
    NarrowWay(const NarrowWay&) = delete;
    NarrowWay& operator=(const NarrowWay&) = delete;

    int port() const { return port_; }
    static constexpr const char* address = "11.22.33.55";
    static constexpr std::size_t bytes = 4 << 20;

private:
    // All of it, whatever is asked.
    void serve(std::promise<int>& port) {
        const int space = ::open(("/run/netns/" + server_).c_str(), O_RDONLY | O_CLOEXEC);
        EXPECT_EQ(::setns(space, CLONE_NEWNET), 0);
        ::close(space);
        const HostPort listener;
        port.set_value(listener.port);
        const std::string answer(bytes, 'x');
        while (!over_) {
            const int one = listener.take();
            if (one < 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
                continue;
            }
            char asked[1024];
            EXPECT_GT(::recv(one, asked, sizeof asked, 0), 0);
            const timeval patience{.tv_sec = 5, .tv_usec = 0};
            ::setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            for (std::size_t at = 0; at < answer.size();) {
                const auto size = ::send(one, answer.data() + at, answer.size() - at, MSG_NOSIGNAL);
                if (size <= 0) break;
                at += static_cast<std::size_t>(size);
            }
            ::shutdown(one, SHUT_WR);
            while (::recv(one, asked, sizeof asked, 0) > 0) {
            }
            ::close(one);
        }
    }

    std::string router_ = fmt::format("hostler-r{}", ::getpid());
    std::string server_ = fmt::format("hostler-s{}", ::getpid());
    std::string cable_ = fmt::format("hn{}", ::getpid());
    std::atomic<bool> over_ = false;
    std::thread thread_;
    int port_ = 0;
};

TEST_P(Walls, ADownloadComesThroughAWayThatTakesLessThanABridge) {
    using namespace std::chrono_literals;
    const auto network = make_network(1);
    const NarrowWay way;
    const auto download = [&](std::string_view suffix, int number, std::string_view patience) {
        serve(network, number, suffix, [&](auto& spec) {
            spec.image = rig().busybox_image();
            spec.command = {"/busybox", "sh", "-c",
                            fmt::format("echo all | /busybox timeout {} /busybox nc {} {} | /busybox wc -c",
                                        patience, NarrowWay::address, way.port())};
        });
        wait_until(ContainerState::exited, suffix);
        const auto log = run(rig_->engine().logs(name(suffix), {.bytes_max = 1000})).value_or(LogPart{});
        return text_of(log_pieces(log.pieces));
    };
    EXPECT_EQ(download("a", 9, "10"), fmt::format("{}\n", NarrowWay::bytes));
    // The table does it, and nothing else here.
    shell("nft flush chain inet hostler forward");
    EXPECT_THAT(download("b", 10, "3"), Not(HasSubstr(std::to_string(NarrowWay::bytes))));
    ASSERT_TRUE(run(rig_->network().ensure(network)));
    EXPECT_EQ(download("c", 11, "10"), fmt::format("{}\n", NarrowWay::bytes));
}

// What the host's firewall says of a bridge, our table and the engine's. shell() cuts off a long ruleset.
std::string rules_of(const std::string& bridge) { return shell("nft list ruleset | grep -F " + bridge); }

TEST_P(Walls, RemovalLeavesNothingBehind) {
    const auto mounts_before = rig().layers_mounted();
    const auto network = make_network(1);
    const auto other = make_network(2);
    const auto bridge = docker::bridge_name(network.id);
    const auto at = serve(network, 9);
    ASSERT_EQ(rig().get(at, "/healthz"), "ok\n");
    EXPECT_THAT(shell("ip -brief link"), HasSubstr(bridge));
    EXPECT_NE(rules_of(bridge), "");
    ASSERT_TRUE(run(rig_->engine().remove(name())));
    ASSERT_TRUE(run(rig_->network().remove(network.id)));
    EXPECT_TRUE(list().empty());
    EXPECT_THAT(shell("ip -brief link"), Not(HasSubstr(bridge)));
    EXPECT_EQ(rules_of(bridge), "");
    EXPECT_NE(rules_of(docker::bridge_name(other.id)), "") << "undone with it";
    EXPECT_EQ(rig().layers_mounted(), mounts_before);
}

TEST_P(Walls, AFailedNetworkLeavesNoRule) {
    const auto network = make_network(1);
    NetworkSpec same{.id = network.id + "-x", .subnet = network.subnet, .gateway = network.gateway};
    ASSERT_FALSE(run(rig_->network().ensure(same)));
    EXPECT_NE(rules_of(docker::bridge_name(network.id)), "");
    EXPECT_EQ(rules_of(docker::bridge_name(same.id)), "");
    EXPECT_EQ(run(rig_->network().ensure({"n-bad", "10.1.2.3/24", "10.1.2.1"})).error().code, Code::invalid);
    EXPECT_EQ(run(rig_->network().ensure({"n-bad", "10.1.2.0/24", "10.1.3.1"})).error().code, Code::invalid);
}

}  // namespace
}  // namespace hostler::contract

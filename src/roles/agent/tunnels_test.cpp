// Tunnels as a gateway meets them: only to what runs, in the right generation, on declared ports.
#include <gtest/gtest.h>

#include "roles/agent/testing/node_steps.h"
#include "roles/agent/testing/world.h"
#include "wire/frame_cutter.h"

namespace hostler::agent {
namespace {

using namespace testing;

// The gateway's end, and the access point that joins the two.
class TunnelTest : public ::testing::Test {
protected:
    explicit TunnelTest(bool clusters = false) {
        world_.settings.clusters = clusters;
        if (clusters) world_.node_steps = &steps_;
        world_.serve("10.201.3.5:8080", "hello from inside");
        world_.join();
        world_.master.order(world_.start());
        world_.timers.advance(2s);
        meet_ = *hostler::testing::run(world_.loop, world_.net.listen("tunnel:1"));
    }

    Task<StreamPtr> as_gateway(std::string identity) {
        StreamPtr raw = CO_TRY(co_await meet_->accept());
        std::string line;
        for (char c = 0; c != '\n'; line += c) CO_TRY(co_await read_exactly(*raw, {&c, 1}));
        EXPECT_EQ(line, "HOSTLER-TUNNEL/1 ticket-1\n");
        CO_TRY(co_await write_all(*raw, "OK\n"));
        const auto own =
            std::make_shared<Credentials>(Credentials{certificate(identity), "KEY-0", authority});
        co_return co_await world_.net.secure(std::move(raw), {own, true, "host/h-1"}, Side::client, 5s);
    }

    Task<uplink::Frame> ask(Stream& stream, std::string instance, std::uint64_t generation,
                            std::uint32_t port, std::string kind = {}) {
        uplink::Frame frame;
        frame.mutable_tunnel_open()->set_kind(std::move(kind));
        frame.mutable_tunnel_open()->set_instance(instance);
        frame.mutable_tunnel_open()->set_generation(generation);
        frame.mutable_tunnel_open()->set_port(port);
        std::string bytes;
        const auto begin = wire::append_header(bytes);
        frame.AppendToString(&bytes);
        wire::complete_header(bytes, begin);
        CO_TRY(co_await write_all(stream, bytes));
        char header[4];
        CO_TRY(co_await read_exactly(stream, header));
        std::string body(static_cast<unsigned char>(header[3]) + 256U * static_cast<unsigned char>(header[2]),
                         '\0');
        CO_TRY(co_await read_exactly(stream, body));
        EXPECT_TRUE(frame.ParseFromString(body));
        co_return frame;
    }

    void order() {
        uplink::Frame frame;
        frame.mutable_tunnel_order()->set_ticket("ticket-1");
        frame.mutable_tunnel_order()->set_tunnel_address("tunnel:1");
        world_.master.send(std::move(frame));
    }
    // The reason of the refusal; "ready" when there is none.
    std::string open(std::string instance, std::uint64_t generation, std::uint32_t port,
                     std::string kind = {}) {
        order();
        stream_ = *hostler::testing::run(world_.loop, as_gateway("gateway/g-1"));
        const auto answer =
            *hostler::testing::run(world_.loop, ask(*stream_, instance, generation, port, kind));
        return answer.has_tunnel_ready() ? "ready" : answer.failure().reason();
    }
    std::string exchange(std::string words) {
        EXPECT_TRUE(hostler::testing::run(world_.loop, write_all(*stream_, words)));
        std::string into(64, '\0');
        const auto size = hostler::testing::run(world_.loop, read_some(*stream_, into));
        into.resize(size.value_or(0));
        return into;
    }

    FakeNodeSteps steps_;
    World world_;
    ListenerPtr meet_;
    StreamPtr stream_;
};

TEST_F(TunnelTest, CarriesBytesToADeclaredPort) {
    EXPECT_EQ(open("i-1", 1, 8080), "ready");
    EXPECT_EQ(exchange("hi"), "hello from inside");
}

TEST_F(TunnelTest, LeadsNowhereElse) {
    world_.serve("10.201.3.5:22", "a secret");
    EXPECT_EQ(open("i-1", 2, 8080), "not_here");
    EXPECT_EQ(open("i-1", 0, 8080), "not_here");
    EXPECT_EQ(open("i-2", 1, 8080), "not_here");
    EXPECT_EQ(open("i-1", 1, 22), "port_not_declared");
    EXPECT_EQ(open("i-1", 1, 8080 + 65536), "port_not_declared");
    EXPECT_EQ(std::ranges::count(world_.net.dialled, "10.201.3.5:22"), 0);
    world_.net.stop_listening("10.201.3.5:8080");
    EXPECT_EQ(open("i-1", 1, 8080), "port_silent");
}

TEST_F(TunnelTest, SaysThatAProgramListensOnTheLoopbackOnly) {
    world_.net.stop_listening("10.201.3.5:8080");
    world_.processes.listeners[{"hostler-i-1", 8080}] = {"127.0.0.1"};
    order();
    stream_ = *hostler::testing::run(world_.loop, as_gateway("gateway/g-1"));
    const auto answer = *hostler::testing::run(world_.loop, ask(*stream_, "i-1", 1, 8080));
    EXPECT_EQ(answer.failure().reason(), "port_loopback");
    EXPECT_EQ(answer.failure().message(), "its program listens on 127.0.0.1 only; let it listen on 0.0.0.0");
    // What can be reached and is silent at this moment is nobody's mistake.
    world_.processes.listeners[{"hostler-i-1", 8080}] = {"0.0.0.0"};
    world_.timers.advance(1s);
    EXPECT_EQ(open("i-1", 1, 8080), "port_silent");
}

TEST_F(TunnelTest, OnlyAGatewayIsHeard) {
    order();
    const auto stream = hostler::testing::run(world_.loop, as_gateway("host/h-2"));
    world_.timers.settle();
    // The handshake may look fine from here; nothing answers.
    if (stream) EXPECT_FALSE(hostler::testing::run(world_.loop, ask(**stream, "i-1", 1, 8080)));
}

TEST_F(TunnelTest, IsClosedWhenItsInstanceStops) {
    ASSERT_EQ(open("i-1", 1, 8080), "ready");
    EXPECT_EQ(exchange("hi"), "hello from inside");
    world_.master.order(world_.stop());
    world_.timers.advance(1s);
    char c = 0;
    const auto end = hostler::testing::run(world_.loop, read_some(*stream_, {&c, 1}));
    EXPECT_TRUE(!end || *end == 0);
    EXPECT_EQ(open("i-1", 1, 8080), "not_here");
}

TEST_F(TunnelTest, IsClosedWhenItsContainerEnds) {
    ASSERT_EQ(open("i-1", 1, 8080), "ready");
    world_.engine.containers.at("hostler-i-1").state = ContainerState::exited;
    world_.timers.advance(2s);
    char c = 0;
    const auto end = hostler::testing::run(world_.loop, read_some(*stream_, {&c, 1}));
    EXPECT_TRUE(!end || *end == 0);
    EXPECT_EQ(open("i-1", 1, 8080), "not_running");
}

TEST_F(TunnelTest, LeadsToNoApiServerOnAHostThatIsNotForClusters) {
    EXPECT_EQ(open("kc-1", 0, 0, "cluster"), "no_cluster_api");
}

struct ClusterTunnelTest : TunnelTest {
    ClusterTunnelTest() : TunnelTest(true) {}
};

TEST_F(ClusterTunnelTest, LeadsToTheApiServerOfTheHostsOwnClusterAlone) {
    steps_.apis["kc-1"] = {.address = "127.0.0.1:6443", .server_name = "kc-1.internal", .credentials = {}};
    EXPECT_EQ(open("kc-2", 0, 0, "cluster"), "no_cluster_api") << "another tenant's";
    EXPECT_EQ(open("kc-1", 0, 0, "cluster"), "cluster_api_silent");
    world_.serve("127.0.0.1:6443", "no TLS\n");
    EXPECT_EQ(open("kc-1", 0, 0, "cluster"), "cluster_api_silent") << "it does not show whose it is";
    EXPECT_EQ(open("i-1", 1, 8080), "ready") << "instances go on";
}

TEST_F(TunnelTest, WhoDawdlesIsCutOffAfterTenSeconds) {
    order();
    const auto stream = *hostler::testing::run(world_.loop, as_gateway("gateway/g-1"));
    world_.timers.advance(9s);
    char c = 0;
    EXPECT_FALSE(hostler::testing::try_run(world_.loop, read_some(*stream, {&c, 1})).has_value());
    world_.timers.advance(2s);
    const auto end = hostler::testing::run(world_.loop, read_some(*stream, {&c, 1}));
    EXPECT_TRUE(!end || *end == 0);
}

}  // namespace
}  // namespace hostler::agent

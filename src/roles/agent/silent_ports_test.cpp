// What is said of a port that does not answer.
#include "roles/agent/silent_ports.h"

#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace std::chrono_literals;
using Addresses = std::vector<std::string>;

TEST(LoopbackOnly, IsSaidOfWhatNobodyElseReaches) {
    EXPECT_EQ(loopback_only(Addresses{"127.0.0.1"}),
              "its program listens on 127.0.0.1 only; let it listen on 0.0.0.0");
    EXPECT_EQ(loopback_only(Addresses{"::1"}), "its program listens on ::1 only; let it listen on 0.0.0.0");
    EXPECT_EQ(loopback_only(Addresses{"127.0.0.1", "::1"}),
              "its program listens on 127.0.0.1 and ::1 only; let it listen on 0.0.0.0");
    EXPECT_NE(loopback_only(Addresses{"127.0.1.1"}), "");
    for (const char* reachable : {"0.0.0.0", "::", "10.201.3.5", "2001:db8::1"})
        EXPECT_EQ(loopback_only(Addresses{"127.0.0.1", reachable}), "") << reachable;
    EXPECT_EQ(loopback_only(Addresses{}), "");
}

struct SilentPortsTest : ::testing::Test {
    SilentPortsTest() { world.processes.listeners[{"c", 8080}] = {"127.0.0.1"}; }
    void ask() {
        group.start("ask", [](SilentPortsTest& test) -> Task<> {
            test.answers.push_back(CO_TRY(co_await test.silent.why("c", 8080)));
            co_return Result<>{};
        }(*this));
        world.timers.settle();
    }
    ~SilentPortsTest() override {
        group.cancel();
        world.timers.settle();
    }
    testing::World world;
    Ports ports{world.loop,    world.timers,  world.net,  world.random,       world.engine, world.networks,
                world.volumes, world.journal, world.logs, {&world.telemetry}, world.host,   world.keys};
    SilentPorts silent{(ports.processes = &world.processes, ports)};
    std::vector<std::string> answers;
    TaskGroup group{world.loop};
};

TEST_F(SilentPortsTest, OneQuestionAnswersAllForASecond) {
    world.processes.hangs = true;
    for (int i = 0; i < 3; ++i) ask();
    EXPECT_TRUE(answers.empty());
    world.processes.hangs = false;
    world.processes.awake.notify_all();
    world.timers.settle();
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[2], loopback_only(Addresses{"127.0.0.1"}));
    ask();
    EXPECT_EQ(world.processes.looks, 1);
    world.timers.advance(1s);
    world.processes.listeners.clear();
    ask();
    EXPECT_EQ(world.processes.looks, 2);
    EXPECT_EQ(answers.back(), "");
}

TEST_F(SilentPortsTest, AHostThatDoesNotTellInTimeIsNotWaitedFor) {
    world.processes.hangs = true;
    ask();
    world.timers.advance(2s);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0], "");
}

}  // namespace
}  // namespace hostler::agent

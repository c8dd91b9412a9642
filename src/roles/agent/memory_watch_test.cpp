// Processes that were killed for want of memory, from the kernel's count to the report.
#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

struct MemoryWatchTest : ::testing::Test {
    MemoryWatchTest() {
        world.join();
        world.serve("10.201.3.5:8080");
        world.master.order(world.start());
        world.timers.advance(5s);
    }
    // What the last report that names the instance says of it.
    std::optional<uplink::MemoryKills> told() {
        world.timers.advance(20s);
        std::optional<uplink::MemoryKills> last;
        for (const auto& report : world.master.reports)
            for (const auto& workload : report.workloads()) {
                last.reset();
                if (workload.has_memory_kills()) last = workload.memory_kills();
            }
        return last;
    }
    World world;
};

TEST_F(MemoryWatchTest, AreToldWithNamesThatDoNoHarm) {
    EXPECT_FALSE(told()) << "the kernel does not count them";
    world.processes.kills["hostler-i-1"] = {};
    ASSERT_TRUE(told());
    EXPECT_EQ(told()->count(), 0U);
    world.processes.kills["hostler-i-1"] = {3, "py\x1b[31m\nx\xff" + std::string(500, 'y')};
    ASSERT_TRUE(told());
    EXPECT_EQ(told()->count(), 3U);
    const std::string name = told()->process();
    EXPECT_TRUE(name.starts_with("py\\x1b[31m x\\xff")) << name;
    EXPECT_LT(name.size(), 80U);
}

TEST_F(MemoryWatchTest, OfARunThatHasEndedAreStillTold) {
    world.processes.kills["hostler-i-1"] = {1, "loader"};
    ASSERT_TRUE(told());
    world.processes.kills.clear();
    world.engine.containers.at("hostler-i-1").state = ContainerState::exited;
    ASSERT_TRUE(told());
    EXPECT_EQ(told()->process(), "loader");
    EXPECT_TRUE(world.processes.asked == std::vector<std::string>{"hostler-i-1"});
}

}  // namespace
}  // namespace hostler::agent

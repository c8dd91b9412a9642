#include "roles/agent/sampler.h"

#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

struct SamplerTest : ::testing::Test {
    SamplerTest() { EXPECT_TRUE(hostler::testing::run(world.loop, sampler.discover())); }
    ~SamplerTest() override {
        world.telemetry.hangs = false;
        world.telemetry.awake.notify_all();
        (void)hostler::testing::try_run(world.loop, sampler.close());
    }
    // Asks in `group`; what it got.
    std::shared_ptr<std::optional<Sampler::Samples>> ask(TaskGroup& group) {
        auto got = std::make_shared<std::optional<Sampler::Samples>>();
        group.start("ask", [](Sampler& of, auto into) -> Task<> {
            *into = CO_TRY(co_await of.sample());
            co_return Result<>{};
        }(sampler, got));
        world.timers.settle();
        return got;
    }
    World world;
    Sampler sampler{world.settings,
                    Ports{world.loop,
                          world.timers,
                          world.net,
                          world.random,
                          world.engine,
                          world.networks,
                          world.volumes,
                          world.journal,
                          world.logs,
                          {&world.telemetry},
                          world.host,
                          world.keys},
                    [] {}};
    TaskGroup first{world.loop}, second{world.loop};
};

TEST_F(SamplerTest, WhoAsksWhileAnotherDoesGetsTheSameAnswer) {
    world.telemetry.hangs = true;
    const auto one = ask(first), two = ask(second);
    EXPECT_FALSE(*one || *two);
    world.telemetry.hangs = false;
    world.telemetry.awake.notify_all();
    world.timers.settle();
    ASSERT_TRUE(*one && *two);
    EXPECT_EQ(world.telemetry.samples, 1);
    EXPECT_EQ((*two)->gpus.at(0).utilisation_percent, 42);
}

TEST_F(SamplerTest, WhoWaitsForOneThatIsCancelledGetsNoOldSamples) {
    ASSERT_TRUE(*ask(first));
    world.telemetry.hangs = true;
    const auto one = ask(first), two = ask(second);
    world.telemetry.shown.utilisation_percent = 77;
    first.cancel();
    world.timers.settle();
    EXPECT_FALSE(*two) << "nobody has taken any since";
    world.telemetry.hangs = false;
    world.telemetry.awake.notify_all();
    world.timers.settle();
    EXPECT_FALSE(*one);
    ASSERT_TRUE(*two);
    EXPECT_EQ((*two)->gpus.at(0).utilisation_percent, 77);
}

}  // namespace
}  // namespace hostler::agent

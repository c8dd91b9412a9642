// Images of an agent: pulled for a start or ahead of it, and told to the master.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

TEST(Commands, APullTellsHowFarItIsOnceASecondAtMost) {
    World world;
    world.join();
    world.engine.pull_hangs = true;
    world.master.order(world.start());
    world.timers.advance(5s);
    const auto told = [&] { return world.master.updates.size(); };
    const auto before = told();
    world.engine.pulled = {.bytes = 1'500'000, .bytes_known = 4'000'000, .layers = 1, .layers_known = 3};
    for (int copies = 0; copies < 3; ++copies) {
        world.engine.pulling.notify_all();
        world.timers.advance(100ms);
    }
    EXPECT_EQ(told(), before + 1);
    EXPECT_EQ(world.master.phases("c-1").back(), "pulling");
    EXPECT_NE(world.master.updates.back().message().find("1.5 of 4.0 MB, 1 of 3 layers"), std::string::npos)
        << world.master.updates.back().message();
    world.timers.advance(1s);
    world.engine.pulled = {4'000'000, 4'000'000};
    world.engine.pulling.notify_all();
    world.timers.advance(100ms);
    EXPECT_EQ(told(), before + 2);
    world.timers.advance(1s);
    world.engine.pulled = {};  // It does not know.
    world.engine.pulling.notify_all();
    world.timers.advance(100ms);
    EXPECT_EQ(told(), before + 2);
}

TEST(Commands, ARegistryThatCannotBeReachedIsAskedAgain) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.engine.registry_away = 3;
    world.master.order(world.start());
    world.timers.advance(1s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.phases("c-1").back(), "pulling");
    EXPECT_NE(world.master.updates.back().message().find("its registry does not answer; try 2 of 5"),
              std::string::npos)
        << world.master.updates.back().message();
    world.timers.advance(12s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr) << "2, 4 and 8 seconds";
    world.timers.advance(4s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    EXPECT_EQ(world.engine.pulls, 4);
}

TEST(Commands, ARegistryThatStaysAwayFailsTheStart) {
    World world;
    world.join();
    world.engine.registry_away = 100;
    world.master.order(world.start());
    world.timers.advance(29s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.timers.advance(3s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->reason(), "registry_unreachable");
    EXPECT_NE(world.master.answer("c-1")->message().find("asked 5 times: registry_tries_max"),
              std::string::npos);
    EXPECT_EQ(world.engine.pulls, 5);
}

// Once known, images are not asked for; somebody may take one away behind our back.
TEST(Commands, AnImageThatHasGoneIsPulledAgainAndAStopDoesNotWaitForIt) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start("c-1", 1));
    world.timers.advance(2s);
    world.master.order(world.stop("c-2", 2));
    world.timers.advance(2s);
    world.master.order(world.start("c-3", 3));
    world.timers.advance(2s);
    ASSERT_EQ(world.master.answer("c-3")->state(), "done");
    EXPECT_EQ(world.engine.pulls, 1) << "it was here";
    world.master.order(world.stop("c-4", 4));
    world.timers.advance(2s);

    world.engine.images.clear();
    world.engine.pull_hangs = true;
    world.master.order(world.start("c-5", 5));
    world.timers.advance(2s);
    EXPECT_EQ(world.engine.pulls, 2);
    EXPECT_EQ(world.master.phases("c-5").back(), "pulling");
    world.master.order(world.stop("c-6", 6));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-5")->reason(), "superseded");
    EXPECT_EQ(world.master.answer("c-6")->state(), "done");

    world.engine.pull_hangs = false;
    world.engine.images = {"demo"};
    world.master.order(world.start("c-7", 7));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-7")->state(), "done");
}

TEST(Commands, AnImageThatHasGoneForGoodFailsTheStart) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start("c-1", 1));
    world.timers.advance(2s);
    world.master.order(world.stop("c-2", 2));
    world.timers.advance(2s);
    world.engine.images.clear();
    world.master.order(world.start("c-3", 3));
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-3"), nullptr);
    EXPECT_EQ(world.master.answer("c-3")->reason(), "image_unavailable");
}

// Whoever made it did so between two looks.
TEST(Commands, AStopDoesNotWaitForAPullThatHangs) {
    World world;
    world.join();
    world.engine.pull_hangs = true;
    world.master.order(world.start());
    world.timers.advance(5s);
    EXPECT_EQ(world.master.phases("c-1").back(), "pulling");
    world.master.order(world.stop());
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-1")->reason(), "superseded");
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->state(), "done");
    EXPECT_EQ(world.engine.launches, 0);
}

TEST(Images, AreToldWithTheHelloAndWhenThatChanges) {
    World world;
    world.engine.images = {"demo", "quay.io/acme/tool:2"};
    world.join();
    const auto names = [](const uplink::HostFacts& facts) {
        return std::vector<std::string>{facts.images().names().begin(), facts.images().names().end()};
    };
    EXPECT_EQ(names(world.master.hellos.at(0).facts()),
              (std::vector<std::string>{"docker.io/library/demo:latest", "quay.io/acme/tool:2"}));
    world.timers.advance(30s);
    world.master.reports.clear();
    const int looks = world.engine.image_looks;
    world.timers.advance(5min);
    EXPECT_GE(world.engine.image_looks, looks + 4);
    EXPECT_LE(world.engine.image_looks, looks + 6) << "engines are slow to answer this";
    for (const auto& report : world.master.reports) EXPECT_FALSE(report.has_facts());
    world.engine.images.erase("demo");  // Behind the agent's back.
    world.timers.advance(2min);
    const auto told = std::ranges::find_if(world.master.reports, &uplink::Report::has_facts);
    ASSERT_NE(told, world.master.reports.end());
    EXPECT_EQ(names(told->facts()), (std::vector<std::string>{"quay.io/acme/tool:2"}));
}

TEST(Images, APullIsDoneAnsweredAndToldAtOnce) {
    World world;
    world.engine.images = {"tool:2"};
    world.join();
    world.timers.advance(20s);
    world.engine.images.insert("nginx:1");
    world.engine.pull_hangs = true;
    world.master.reports.clear();
    uplink::Command pull;
    pull.set_id("c-1");
    pull.set_epoch(1);
    pull.set_subject("image-1-h-1");
    pull.set_generation(1);
    pull.mutable_pull_image()->set_image("nginx:1");
    world.master.order(pull);
    world.timers.advance(1s);
    ASSERT_FALSE(world.master.phases("c-1").empty());
    EXPECT_EQ(world.master.phases("c-1").back(), "pulling");
    world.engine.pull_hangs = false;
    world.engine.pulling.notify_all();
    world.timers.advance(1s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    const auto told = std::ranges::find_if(world.master.reports, &uplink::Report::has_facts);
    ASSERT_NE(told, world.master.reports.end()) << "before the next look at the engine";
    EXPECT_EQ(told->facts().images().names(0), "docker.io/library/nginx:1");
    EXPECT_FALSE(told->facts().images().truncated());

    pull.set_id("c-2");
    pull.mutable_pull_image()->set_image("nobody-has:1");
    world.master.order(pull);
    world.timers.advance(10s);
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->state(), "failed");
    EXPECT_EQ(world.master.answer("c-2")->reason(), "image_unavailable");
}

TEST(Images, ThereIsABoundAndItIsSaid) {
    World world;
    world.settings.images_max = 3;
    for (int i = 0; i < 5; ++i) world.engine.images.insert(fmt::format("tool:{}", i));
    world.join();
    EXPECT_EQ(world.master.hellos.at(0).facts().images().names_size(), 3);
    EXPECT_TRUE(world.master.hellos.at(0).facts().images().truncated());
}

}  // namespace
}  // namespace hostler::agent

// A stop that holds only if nobody uses the instance: the host looks once more, and is of one mind about it
// over crashes.
#include <gtest/gtest.h>

#include "roles/agent/agent.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

uplink::Command unused_stop(const World& world, std::string id, Duration unused) {
    uplink::Command command = world.stop(std::move(id), 1);
    command.mutable_stop_workload()->set_if_unused_ms(
        static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(unused).count()));
    return command;
}

void run_one(World& world) {
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start("c-1"));
    world.timers.advance(5s);
    ASSERT_EQ(world.master.answer("c-1")->state(), "done");
}

TEST(UnusedStop, IsReportedAndRefusedUntilItsTime) {
    World world;
    run_one(world);
    world.timers.advance(60s);
    const auto& said = world.master.reports.back().workloads(0);
    ASSERT_TRUE(said.has_unused_ms());
    EXPECT_GE(said.unused_ms(), 50'000U) << "the platform's own probes are no use";
    EXPECT_EQ(said.used_by(), "start");
    world.master.order(unused_stop(world, "c-2", 2min));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-2")->reason(), "in_use");
    EXPECT_EQ(world.engine.stops, 0);
    world.timers.advance(60s);
    world.master.order(unused_stop(world, "c-3", 2min));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-3")->state(), "done");
    EXPECT_TRUE(world.engine.containers.empty());
    for (const auto& [key, value] : world.journal.kept)
        EXPECT_FALSE(key.starts_with("unused/")) << "a decision ends with its command";
}

TEST(UnusedStop, WhatEndedByItselfIsNoSuchStop) {
    World world;
    run_one(world);
    world.timers.advance(3min);
    world.engine.containers.at("hostler-i-1").state = ContainerState::exited;
    world.master.order(unused_stop(world, "c-2", 2min));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-2")->reason(), "not_running");
}

TEST(UnusedStop, AnAgentThatStartsAnewHasMeasuredNothing) {
    World world;
    run_one(world);
    world.timers.advance(3min);
    world.crash();
    world.join();
    world.master.order(unused_stop(world, "c-2", 2min));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-2")->reason(), "in_use");
    EXPECT_EQ(world.engine.stops, 0);
}

// Whichever write it dies at: it is stopped and says so, or runs on untouched and says so.
TEST(UnusedStop, OneMindWhicheverWriteItDiesAt) {
    int stopped = 0, spared = 0;
    for (const auto crash : {FakeJournal::Crash::before, FakeJournal::Crash::after}) {
        int at = 0;
        for (bool crashed = true; crashed; ++at) {
            World world;
            run_one(world);
            world.timers.advance(3min);
            world.journal.writes = 0;
            world.journal.crash_at = at;
            world.journal.crash = crash;
            world.master.order(unused_stop(world, "c-2", 2min));
            world.timers.advance(4s);
            crashed = world.journal.crashed;
            world.journal.crash_at = -1;
            world.crash();
            world.join();
            if (!world.master.answer("c-2")) world.master.order(unused_stop(world, "c-2", 2min));
            world.timers.advance(10s);
            SCOPED_TRACE(
                fmt::format("write {}, {}", at, crash == FakeJournal::Crash::before ? "before" : "after"));
            ASSERT_NE(world.master.answer("c-2"), nullptr);
            const bool done = world.master.answer("c-2")->state() == "done";
            EXPECT_EQ(done, world.engine.containers.empty());
            EXPECT_EQ(done, world.engine.stops > 0) << "what it does not stop it does not touch";
            if (!done) EXPECT_EQ(world.master.answer("c-2")->reason(), "in_use");
            (done ? stopped : spared) += 1;
        }
        EXPECT_GT(at, 3);
    }
    EXPECT_GT(stopped, 0);
    EXPECT_GT(spared, 0);
}

}  // namespace
}  // namespace hostler::agent

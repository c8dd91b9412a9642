// One agent and its commands: each done once, over crashes, copies and late words.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include <ranges>

#include "roles/agent/kept_log.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

TEST(Commands, EmptyLayersAreMadeAheadAsTheMasterAsks) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.timers.advance(30s);
    EXPECT_TRUE(world.engine.ahead.empty()) << "nobody asked";
    world.master.layers_ahead = 3;
    world.master.layer_bytes = 1 << 30;
    world.timers.advance(30s);
    ASSERT_FALSE(world.engine.ahead.empty());
    EXPECT_EQ(world.engine.ahead.back(), (std::pair<std::size_t, std::uint64_t>{3, 1 << 30}));
    const auto last = std::ranges::find_if(std::views::reverse(world.master.reports),
                                           [](const auto& one) { return one.workloads_complete(); });
    ASSERT_NE(last, world.master.reports.rend());
    EXPECT_EQ(last->layers_ahead(), 3U);
    // Slots that have gone take theirs with them.
    world.master.layers_ahead = 0;
    world.timers.advance(30s);
    EXPECT_EQ(world.engine.ahead.back().first, 0U);
    const auto asked = world.engine.ahead.size();
    world.timers.advance(60s);
    EXPECT_EQ(world.engine.ahead.size(), asked) << "there is nothing left to do";
}

TEST(Commands, WhatAContainerWroteIsKeptWhenItsStopSaysSo) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    EXPECT_TRUE(world.master.hellos.back().facts().keeps_layers());
    world.master.order(world.start());
    world.timers.advance(2s);
    EXPECT_EQ(world.engine.specs.at("hostler-i-1").layer, LayerStart::empty);
    auto stop = world.stop();
    stop.mutable_stop_workload()->set_keep_layer(true);
    world.master.order(stop);
    world.timers.advance(30s);
    EXPECT_TRUE(world.engine.layers.contains("hostler-i-1"));
    const auto last = std::ranges::find_if(std::views::reverse(world.master.reports),
                                           [](const auto& one) { return one.workloads_complete(); });
    ASSERT_NE(last, world.master.reports.rend());
    const uplink::Report& report = *last;
    ASSERT_TRUE(report.layers_told());
    ASSERT_EQ(report.layers_size(), 1);
    EXPECT_EQ(report.layers(0).instance(), "i-1");
    EXPECT_EQ(report.layers(0).bytes(), 4096U);
    EXPECT_EQ(report.layers(0).kept_at(), 7);
    EXPECT_EQ(report.layers(0).generation(), 2U);
    // The next run begins with it, and keeps it when its start fails.
    auto again = world.start("c-3", 3);
    again.mutable_start_workload()->set_keep_layer(true);
    world.master.order(again);
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-3"), nullptr);
    EXPECT_EQ(world.master.answer("c-3")->state(), "done");
    EXPECT_EQ(world.engine.specs.at("hostler-i-1").layer, LayerStart::kept);
    EXPECT_EQ(world.engine.specs.at("hostler-i-1").layer_end, LayerEnd::kept);
    EXPECT_TRUE(world.engine.layers.empty());
    // A restart: another container in the same place.
    again = world.start("c-4", 4);
    again.mutable_start_workload()->set_keep_layer(true);
    world.master.order(again);
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-4")->state(), "done");
    world.engine.exit_at_once = 3;
    again = world.start("c-5", 5);
    again.mutable_start_workload()->set_keep_layer(true);
    world.master.order(again);
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-5")->state(), "failed");
    EXPECT_TRUE(world.engine.layers.contains("hostler-i-1")) << "a start that failed loses nothing";
    world.master.order(world.stop("c-6", 6));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-6")->state(), "done");
    EXPECT_TRUE(world.engine.layers.empty());
}

TEST(Commands, ThreeCopiesAreDoneOnceAndAnsweredThrice) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    for (int copies = 0; copies < 3; ++copies) world.master.order(world.start());
    world.timers.advance(2s);
    world.master.updates.clear();
    world.master.order(world.start());  // After its acknowledgement, too.
    world.timers.advance(1s);
    EXPECT_EQ(world.engine.launches, 1);
    ASSERT_EQ(world.master.updates.size(), 1U);
    EXPECT_EQ(world.master.updates[0].state(), "done");
    EXPECT_TRUE(world.master.updates[0].workload().ready());
}

TEST(Commands, ALateCopyGetsTheOldAnswerWhateverHasHappenedSince) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.containers.at("hostler-i-1").state = ContainerState::exited;
    world.timers.advance(2s);
    world.master.updates.clear();
    world.master.order(world.start());
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    EXPECT_TRUE(world.engine.containers.contains("hostler-i-1"));
}

TEST(Commands, AnOlderGenerationIsRefusedWhenNothingIsLeftOfTheNewer) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.stop("c-stop", 5));
    world.timers.advance(1s);
    world.crash();
    world.join();
    world.master.order(world.start("c-late", 4));
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-late"), nullptr);
    EXPECT_EQ(world.master.answer("c-late")->reason(), "stale_generation");
    EXPECT_EQ(world.engine.launches, 0);
}

TEST(Commands, AnAnswerIsRepeatedUntilItIsAcknowledged) {
    World world;
    world.serve("10.201.3.5:8080");
    world.master.acknowledge_answers = false;
    world.join();
    world.master.order(world.start());
    world.timers.advance(12s);
    const auto done = std::ranges::count(world.master.updates, "done", &uplink::CommandUpdate::state);
    EXPECT_GE(done, 2);
    world.crash();
    world.master.updates.clear();
    world.master.acknowledge_answers = true;
    world.join();
    world.timers.advance(30s);
    EXPECT_EQ(std::ranges::count(world.master.updates, "done", &uplink::CommandUpdate::state), 1);
    EXPECT_EQ(world.engine.launches, 1);
}

// The heart of it: whichever write the agent dies at, the command is done once and answered with `done`.
TEST(Commands, DoneOnceWhicheverWriteItDiesAt) {
    for (const auto crash : {FakeJournal::Crash::before, FakeJournal::Crash::after}) {
        int at = 0;
        for (bool crashed = true; crashed; ++at) {
            World world;
            world.serve("10.201.3.5:8080");
            world.join();
            world.timers.advance(10s);
            world.journal.writes = 0;
            world.journal.crash_at = at;
            world.journal.crash = crash;
            world.master.order(world.start("c-1"));
            world.timers.advance(2s);
            world.master.order(world.stop("c-2"));
            world.timers.advance(2s);
            crashed = world.journal.crashed;
            world.journal.crash_at = -1;  // What comes now may write more.
            world.crash();
            world.join();
            world.master.order(world.start("c-1"));  // The master sends what was not answered.
            world.timers.advance(3s);
            if (!world.master.answer("c-2")) world.master.order(world.stop("c-2"));
            world.timers.advance(8s);
            SCOPED_TRACE(
                fmt::format("write {}, {}", at, crash == FakeJournal::Crash::before ? "before" : "after"));
            EXPECT_EQ(world.engine.launches, 1);
            ASSERT_NE(world.master.answer("c-1"), nullptr);
            EXPECT_EQ(world.master.answer("c-1")->state(), "done");
            ASSERT_NE(world.master.answer("c-2"), nullptr);
            EXPECT_EQ(world.master.answer("c-2")->state(), "done");
            EXPECT_TRUE(world.engine.containers.empty());
        }
        EXPECT_GT(at, 5);  // It did crash in between.
    }
}

TEST(Commands, StaleOnesAreRefused) {
    World world;
    world.serve("10.201.3.5:8080");
    world.master.epoch = 5;
    world.join();
    auto command = world.start("c-old-epoch");
    command.set_epoch(4);
    world.master.order(command);
    command = world.start("c-late", 3);
    command.set_epoch(5);
    command.set_expires(world.in(-1s));
    world.master.order(command);
    command = world.start("c-good", 3);
    command.set_epoch(5);
    world.master.order(command);
    world.timers.advance(2s);
    command = world.stop("c-old", 2);
    command.set_epoch(5);
    world.master.order(command);
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-old-epoch")->reason(), "stale_epoch");
    EXPECT_EQ(world.master.answer("c-late")->reason(), "expired");
    EXPECT_EQ(world.master.answer("c-good")->state(), "done");
    EXPECT_EQ(world.master.answer("c-old")->reason(), "stale_generation");
    EXPECT_EQ(world.engine.containers.at("hostler-i-1").state, ContainerState::running);
}

TEST(Commands, TheContainersOwnLabelRefusesAnOlderGenerationWhenTheJournalHasForgotten) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start("c-1", 5));
    world.timers.advance(2s);
    world.crash();
    std::erase_if(world.journal.kept, [](const auto& entry) { return entry.first != "identity"; });
    world.join();
    world.master.order(world.stop("c-2", 4));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-2")->reason(), "stale_generation");
    EXPECT_TRUE(world.engine.containers.contains("hostler-i-1"));
}

TEST(Commands, AContainerOfAnOlderGenerationThatWasNotSeenIsTakenAway) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start("c-1", 1));
    world.timers.advance(2s);
    const Container older = world.engine.containers.at("hostler-i-1");
    world.master.order(world.stop("c-2", 2));
    world.timers.advance(2s);
    world.engine.containers["hostler-i-1"] = older;
    world.master.order(world.start("c-3", 3));
    world.timers.advance(900ms);
    ASSERT_NE(world.master.answer("c-3"), nullptr);
    EXPECT_EQ(world.master.answer("c-3")->state(), "done");
    EXPECT_EQ(world.engine.containers.at("hostler-i-1").labels.at("hostler.generation"), "3");
}

TEST(Commands, AStopKeepsTheLogsAndConfirmsTheAbsence) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.written["hostler-i-1"] = "bye\n";
    world.master.order(world.stop());
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->workload().state(), "absent");
    EXPECT_EQ(world.engine.graces.back(), 5s);
    EXPECT_EQ(world.logs.kept.at("i-1"), kept_log({.pieces = "1795261229000000 F bye\n"}));
    EXPECT_EQ(world.engine.removed, std::vector<std::string>{"hostler-i-1"});
    EXPECT_FALSE(world.journal.kept.contains("ready/i-1"));
    world.master.order(world.stop("c-3", 3));  // Of what is not there.
    world.timers.advance(1s);
    EXPECT_EQ(world.master.answer("c-3")->state(), "done");
}

TEST(Commands, AProgramThatHadToBeKilledIsTold) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.engine.stubborn = true;
    world.master.order(world.start("c-1", 1));
    world.timers.advance(2s);
    EXPECT_FALSE(world.master.answer("c-1")->has_killed());
    auto again = world.start("c-2", 2);
    again.mutable_start_workload()->set_stop_grace_ms(40'000);
    world.master.order(again);
    world.timers.advance(2s);
    ASSERT_EQ(world.master.answer("c-2")->state(), "done");
    EXPECT_EQ(world.engine.graces.back(), 40s);
    EXPECT_EQ(world.master.answer("c-2")->killed().generation(), 1U) << "the one that it replaced";
    EXPECT_EQ(world.master.answer("c-2")->killed().grace_ms(), 40'000);
    world.master.order(world.stop("c-3", 3));
    world.timers.advance(2s);
    ASSERT_EQ(world.master.answer("c-3")->state(), "done");
    EXPECT_EQ(world.master.answer("c-3")->killed().generation(), 2U);
    EXPECT_EQ(world.master.answer("c-3")->killed().grace_ms(), 5000);
    world.engine.stubborn = false;
    world.master.order(world.start("c-4", 4));
    world.timers.advance(2s);
    world.master.order(world.stop("c-5", 5));
    world.timers.advance(2s);
    ASSERT_EQ(world.master.answer("c-5")->state(), "done");
    EXPECT_FALSE(world.master.answer("c-5")->has_killed());
}

TEST(Commands, ProcessesOfWhatRunsAreReported) {
    World world;
    world.serve("10.201.3.5:8080");
    world.engine.on_launch = [&](const ContainerSpec& spec) {
        world.engine.containers.at(spec.name).id = "c0ffee";
    };
    world.host.processes["c0ffee"] = {4090, 4096};
    world.join();
    world.master.order(world.start());
    world.timers.advance(30s);
    const uplink::Workload* seen = nullptr;
    for (const auto& report : world.master.reports)
        for (const auto& workload : report.workloads())
            if (workload.processes_max() > 0) seen = &workload;
    ASSERT_NE(seen, nullptr);
    EXPECT_EQ(seen->processes(), 4090U);
    EXPECT_EQ(seen->processes_max(), 4096U);
}

TEST(Commands, ANewGenerationReplacesTheOldContainer) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start("c-1", 1));
    world.timers.advance(2s);
    world.master.order(world.start("c-2", 2));
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-2")->state(), "done");
    EXPECT_EQ(world.engine.containers.at("hostler-i-1").labels.at("hostler.generation"), "2");
    EXPECT_EQ(world.engine.launches, 2);
}

TEST(Commands, AMountedVolumeIsNotDeleted) {
    World world;
    world.serve("10.201.3.5:8080");
    world.volumes.kept.insert("v-1");
    world.join();
    auto command = world.start();
    command.mutable_start_workload()->add_mounts()->set_volume("v-1");
    world.master.order(command);
    world.timers.advance(2s);
    ASSERT_EQ(world.master.answer("c-1")->state(), "done");
    EXPECT_EQ(world.engine.specs.at("hostler-i-1").mounts.at(0).source, "/volumes/v-1");
    uplink::Command remove = world.stop("c-3");
    remove.set_subject("v-1");
    remove.mutable_delete_volume()->set_volume("v-1");
    world.master.order(remove);
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-3")->reason(), "volume_in_use");
    EXPECT_TRUE(world.volumes.kept.contains("v-1"));
}

}  // namespace
}  // namespace hostler::agent

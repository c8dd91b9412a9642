// One agent and its commands: each done once, over crashes, copies and late words.
#include <gtest/gtest.h>

#include <ranges>

#include "roles/agent/agent.h"
#include "roles/agent/kept_log.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

const uplink::Workload* workload(const uplink::Report& report) {
    return report.workloads().empty() ? nullptr : &report.workloads(0);
}

TEST(Commands, AStartIsDoneWhenItsProbeAnswers) {
    World world;
    world.join();
    world.master.order(world.start());
    world.timers.advance(5s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.phases("c-1").back(), "probing");
    EXPECT_NE(world.master.updates.back().message().find("port 8080"), std::string::npos);
    world.serve("10.201.3.5:8080");
    world.timers.advance(2s);
    const auto* answer = world.master.answer("c-1");
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->state(), "done");
    EXPECT_TRUE(answer->workload().ready());
    EXPECT_EQ(answer->workload().generation(), 1U);
    const auto& spec = world.engine.specs.at("hostler-i-1");
    EXPECT_EQ(spec.cdi_devices, std::vector<std::string>{"nvidia.com/gpu=GPU-1"});
    EXPECT_EQ(spec.environment.at("HOSTLER_GPUS"), "GPU-1");
    EXPECT_EQ(spec.labels.at("hostler.host"), "h-1");
    EXPECT_EQ(spec.disk_bytes, 0) << "an older master says none";
    EXPECT_EQ(world.networks.kept.at("n-1"), "10.201.3.0/24");
    // And the report that says so came at once.
    EXPECT_TRUE(workload(world.master.reports.back())->ready());
}

TEST(Commands, AStartSaysThatItsProgramListensOnTheLoopbackOnly) {
    World world;
    world.join();
    world.processes.listeners[{"hostler-i-1", 8080}] = {"::1"};
    auto command = world.start();
    command.mutable_start_workload()->set_ready_deadline_ms(60'000);
    world.master.order(command);
    const std::string words = "port 8080: its program listens on ::1 only; let it listen on 0.0.0.0";
    world.timers.advance(10s);
    EXPECT_EQ(world.master.updates.back().message(), words) << "while it waits";
    EXPECT_LT(world.processes.looks, 12);
    world.timers.advance(60s);
    const auto* answer = world.master.answer("c-1");
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->reason(), "not_ready");
    EXPECT_NE(answer->message().find(words), std::string::npos) << answer->message();
}

TEST(Commands, WhatIsWrongWithOtherContainersStopsNeitherAStartNorAStop) {
    World world;
    world.engine.refuse_list = "one container of many";
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(5s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    world.master.order(world.stop());
    world.timers.advance(10s);
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->state(), "done");
    EXPECT_TRUE(world.engine.containers.empty());
}

TEST(Commands, TheDiskOfAContainerEndsWhereTheMasterSaysIt) {
    World world;
    world.engine.disk_unlimited = "its storage driver is vfs";
    world.join();
    EXPECT_TRUE(world.master.hellos.back().facts().limits_disk());
    EXPECT_EQ(world.master.hellos.back().facts().disk_unlimited(), "its storage driver is vfs");
    auto command = world.start();
    command.mutable_start_workload()->set_disk_bytes(1 << 30);
    command.mutable_start_workload()->set_disk_limit_required(true);
    world.serve("10.201.3.5:8080");
    world.master.order(command);
    world.timers.advance(5s);
    const auto& spec = world.engine.specs.at("hostler-i-1");
    EXPECT_EQ(spec.disk_bytes, 1 << 30);
    EXPECT_TRUE(spec.disk_limit_required);
}

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

TEST(Commands, AStartThatShouldHaveWhatIsNotThereFails) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    auto command = world.start();
    command.mutable_start_workload()->set_keep_layer(true);
    world.master.order(command);
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->reason(), "layer_missing");
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

TEST(Commands, AProbeThatNeverPassesFailsTheStart) {
    World world;
    world.join();
    world.engine.written["hostler-i-1"] = "still loading the model\n";
    world.master.order(world.start());
    world.timers.advance(29s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.timers.advance(3s);
    const auto* answer = world.master.answer("c-1");
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->reason(), "not_ready");
    EXPECT_NE(answer->message().find("still loading the model"), std::string::npos);
    EXPECT_TRUE(world.engine.containers.empty());
    EXPECT_EQ(world.logs.kept.at("i-1"),
              kept_log({.pieces = "1795261229000000 F still loading the model\n"}));
}

// However often the agent ends meanwhile: its container goes on.
TEST(Commands, ProbesHaveTheirTimeFromTheContainersStartAlsoOverRestarts) {
    World world;
    world.join();
    world.master.order(world.start());
    world.timers.advance(20s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.crash();
    world.join();
    world.timers.advance(5s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.timers.advance(5s);
    const auto* answer = world.master.answer("c-1");
    ASSERT_NE(answer, nullptr) << "thirty seconds after its start";
    EXPECT_EQ(answer->reason(), "not_ready");
    world.timers.advance(5s);
    for (const auto& [key, value] : world.journal.kept) EXPECT_FALSE(key.starts_with("probing/")) << key;
}

TEST(Commands, AnHttpProbeLooksAtTheStatus) {
    World world;
    world.serve("10.201.3.5:8080", "HTTP/1.1 503 Service Unavailable\r\n\r\n");
    world.join();
    auto command = world.start();
    command.mutable_start_workload()->mutable_ports(0)->set_probe_path("/healthz");
    world.master.order(command);
    world.timers.advance(5s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    EXPECT_NE(world.master.updates.back().message().find("503"), std::string::npos);
    world.serve("10.201.3.5:8080", "HTTP/1.1 401 Unauthorized\r\n\r\n");
    world.timers.advance(3s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
}

TEST(Commands, AContainerThatExitsEarlyFailsWithItsLastWords) {
    World world;
    world.join();
    world.engine.exit_at_once = 3;
    world.engine.written["hostler-i-1"] = "one\nno model given\n";
    world.master.order(world.start());
    world.timers.advance(3s);
    const auto* answer = world.master.answer("c-1");
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->reason(), "exited");
    EXPECT_EQ(answer->workload().exit_code(), 3);
    EXPECT_NE(answer->message().find("exit code 3"), std::string::npos);
    EXPECT_NE(answer->message().find("no model given"), std::string::npos);
    EXPECT_TRUE(world.engine.containers.empty());
}

TEST(Commands, WhatIsMissingIsNamed) {
    World world;
    world.join();
    auto command = world.start("c-image");
    command.mutable_start_workload()->set_image("nowhere");
    world.master.order(command);
    command = world.start("c-volume", 2);
    command.mutable_start_workload()->add_mounts()->set_volume("v-1");
    world.timers.advance(1s);
    world.master.order(command);
    world.timers.advance(1s);
    command = world.start("c-gpu", 3);
    command.mutable_start_workload()->add_gpus("GPU-9");
    world.master.order(command);
    world.timers.advance(1s);
    EXPECT_EQ(world.master.answer("c-image")->reason(), "image_unavailable");
    EXPECT_EQ(world.master.answer("c-volume")->reason(), "volume_missing");
    EXPECT_EQ(world.master.answer("c-gpu")->reason(), "gpu_missing");
    EXPECT_EQ(world.engine.launches, 0);
}

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

TEST(Commands, TheProgramIsRunAsAsked) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    auto first = world.start("c-1", 1);
    auto& wanted = *first.mutable_start_workload();
    wanted.set_cpu_milli(2500);
    wanted.set_shm_bytes(1 << 30);
    wanted.set_replaces_entrypoint(true);
    wanted.set_no_init(true);
    world.master.order(first);
    world.timers.advance(2s);
    const ContainerSpec* spec = &world.engine.specs.at("hostler-i-1");
    EXPECT_EQ(spec->shm_bytes, 1 << 30);
    EXPECT_EQ(spec->entrypoint, std::vector<std::string>{});
    EXPECT_TRUE(spec->no_init);
    EXPECT_EQ(spec->environment.at("OMP_NUM_THREADS"), "2") << "whole CPUs";
    auto second = world.start("c-2", 2);
    second.mutable_start_workload()->set_cpu_milli(500);
    second.mutable_start_workload()->add_entrypoint("not asked for");
    world.master.order(second);
    world.timers.advance(2s);
    spec = &world.engine.specs.at("hostler-i-1");
    EXPECT_EQ(spec->entrypoint, std::nullopt);
    EXPECT_FALSE(spec->no_init);
    EXPECT_EQ(spec->environment.at("OMP_NUM_THREADS"), "1");
    auto third = world.start("c-3", 3);
    third.mutable_start_workload()->set_cpu_milli(4000);
    auto& own = *third.mutable_start_workload()->add_environment();
    own.set_name("OMP_NUM_THREADS");
    own.set_value("7");
    world.master.order(third);
    world.timers.advance(2s);
    EXPECT_EQ(world.engine.specs.at("hostler-i-1").environment.at("OMP_NUM_THREADS"), "7");
    world.master.order(world.start("c-4", 4));
    world.timers.advance(2s);
    EXPECT_FALSE(world.engine.specs.at("hostler-i-1").environment.contains("OMP_NUM_THREADS")) << "no limit";
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

TEST(Commands, AFullDiskBeginsNothing) {
    World world;
    world.join();
    world.journal.full = true;
    world.master.order(world.start());
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-1")->reason(), "journal_failed");
    EXPECT_EQ(world.engine.launches, 0);
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

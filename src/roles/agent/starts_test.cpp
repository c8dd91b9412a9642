// What a start makes of its container, its probes, and why it fails.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include "roles/agent/kept_log.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

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

TEST(Commands, AFullDiskBeginsNothing) {
    World world;
    world.join();
    world.journal.full = true;
    world.master.order(world.start());
    world.timers.advance(2s);
    EXPECT_EQ(world.master.answer("c-1")->reason(), "journal_failed");
    EXPECT_EQ(world.engine.launches, 0);
}

}  // namespace
}  // namespace hostler::agent

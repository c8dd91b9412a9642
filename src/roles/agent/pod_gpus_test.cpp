// Which pods have GPUs, in the samples of a host that is a node of a cluster.
#include <gtest/gtest.h>

#include "roles/agent/testing/node_steps.h"
#include "roles/agent/testing/pod_devices.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

struct PodWorld : World {
    PodWorld() {
        Driver driver{.name = "tiny", .versions = {"v1"}};
        driver.steps = {{.name = "make", .phase = StepPhase::create, .run = {"maker"}},
                        {.name = "clean", .phase = StepPhase::clean, .run = {"cleaner"}}};
        settings.clusters = true;
        settings.drivers["tiny"] = {std::move(driver), "digest-1"};
        settings.cluster_files = "/agent/files";
        node_steps = &steps;
        pod_devices = &pods;
        pods.pods["GPU-1"] = {"default", "train-0", "main"};
        join();
    }
    void perform(const std::string& step, const std::string& node = "kn-1") {
        uplink::Command command;
        command.set_id(fmt::format("c-{}", ++commands_));
        command.set_epoch(1);
        command.set_subject(node);
        command.set_generation(commands_);
        command.set_expires(in(1h));
        command.mutable_node_step()->set_cluster("kc-1");
        command.mutable_node_step()->set_driver("tiny");
        command.mutable_node_step()->set_driver_digest("digest-1");
        command.mutable_node_step()->set_name(step);
        master.order(command);
        timers.advance(1s);
        ASSERT_NE(master.answer(command.id()), nullptr);
        EXPECT_EQ(master.answer(command.id())->state(), "done");
    }
    // A report after `time`.
    uplink::Report report(Duration time = 10s) {
        master.reports.clear();
        timers.advance(time);
        for (auto at = master.reports.rbegin(); at != master.reports.rend(); ++at)
            if (!at->gpus().empty()) return *at;
        ADD_FAILURE() << "no report has samples";
        return {};
    }
    // "default/train-0/main" of GPU-1; empty: none, or it is not known.
    std::string holder(Duration time = 10s) {
        const auto told = report(time);
        if (told.gpus().empty() || !told.gpus(0).has_pod()) return {};
        const auto& pod = told.gpus(0).pod();
        return fmt::format("{}/{}/{}", pod.pod_namespace(), pod.name(), pod.container());
    }
    FakeNodeSteps steps;
    FakePodDevices pods;

private:
    std::uint64_t commands_ = 0;
};

TEST(PodGpus, SamplesNamePodsWhileTheHostIsANode) {
    PodWorld world;
    EXPECT_EQ(world.holder(), "");
    EXPECT_FALSE(world.report().has_pod_devices());
    EXPECT_EQ(world.pods.questions, 0) << "a host of instances asks no kubelet";

    world.perform("make");
    EXPECT_EQ(world.holder(), "default/train-0/main");
    world.pods.pods["GPU-1"] = {"team", "train-1", ""};
    EXPECT_EQ(world.holder(), "team/train-1/") << "it moved between two questions";
    world.pods.pods.clear();
    EXPECT_EQ(world.holder(), "");
    world.pods.pods["GPU-1"] = {"default", "train-2", "main"};
    EXPECT_EQ(world.holder(), "default/train-2/main");

    world.perform("clean");
    const int before = world.pods.questions;
    EXPECT_EQ(world.holder(), "");
    EXPECT_EQ(world.pods.questions, before);
}

TEST(PodGpus, TelemetryNamesThemToo) {
    PodWorld world;
    world.perform("make");
    uplink::Frame frame;
    frame.mutable_watch_telemetry()->set_interval_ms(1000);
    frame.mutable_watch_telemetry()->set_for_ms(5000);
    (void)world.master.link->try_send(frame);
    world.timers.settle();
    ASSERT_FALSE(world.master.others.empty());
    ASSERT_TRUE(world.master.others.back().has_telemetry());
    EXPECT_EQ(world.master.others.back().telemetry().gpus(0).pod().name(), "train-0");
}

TEST(PodGpus, AnOldAnswerHoldsForAMinute) {
    PodWorld world;
    world.perform("make");
    EXPECT_EQ(world.holder(), "default/train-0/main");
    world.pods.no_holders = Error{.code = Code::unavailable, .message = "it is started again"};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(world.holder(), "default/train-0/main") << i;
    world.timers.advance(10s);
    EXPECT_EQ(world.holder(), "");
    world.pods.no_holders.reset();
    EXPECT_EQ(world.holder(), "default/train-0/main");
}

TEST(PodGpus, ASilentKubeletIsAskedOnceAndHoldsUpNoReport) {
    PodWorld world;
    world.perform("make");
    EXPECT_EQ(world.holder(), "default/train-0/main");
    world.pods.silent = true;
    const int before = world.pods.questions;
    world.timers.advance(70s);
    EXPECT_EQ(world.holder(), "");
    const auto silent = world.report(60s);
    EXPECT_GE(world.master.reports.size(), 5U);
    EXPECT_EQ(world.pods.questions, before + 1);
    EXPECT_FALSE(silent.pod_devices().has_allocated());
    world.pods.silent = false;
    world.pods.answers.notify_all();
    EXPECT_EQ(world.holder(), "default/train-0/main");
}

TEST(PodGpus, AnAnswerForANodeThatEndedIsDropped) {
    PodWorld world;
    world.perform("make");
    world.pods.silent = true;
    world.timers.advance(10s);
    world.perform("clean");
    world.perform("make", "kn-2");
    world.pods.pods["GPU-1"] = {"default", "of-the-old-node", "main"};
    world.pods.silent = false;
    world.pods.answers.notify_all();
    world.timers.settle();
    world.pods.silent = true;
    EXPECT_EQ(world.holder(), "");
    world.pods.silent = false;
    world.pods.pods["GPU-1"] = {"default", "of-the-new-node", "main"};
    world.pods.answers.notify_all();
    EXPECT_EQ(world.holder(20s), "default/of-the-new-node/main");
}

TEST(PodGpus, ReportsCountThem) {
    PodWorld world;
    world.perform("make");
    world.pods.counted = {.allocations = 7, .refused = 2};
    auto told = world.report().pod_devices();
    EXPECT_EQ(told.offered(), 1U);
    EXPECT_EQ(told.allocated(), 1U);
    EXPECT_EQ(told.allocations(), 7U);
    EXPECT_EQ(told.refused(), 2U);
    world.telemetry.shown.condition = GpuCondition::lost;
    world.pods.pods.clear();
    world.timers.advance(10s);
    told = world.report().pod_devices();
    EXPECT_EQ(told.offered(), 0U);
    EXPECT_TRUE(told.has_allocated());
    EXPECT_EQ(told.allocated(), 0U);
}

}  // namespace
}  // namespace hostler::agent

// What an agent says of the moment: in its reports, and in between while somebody looks.
#include <gtest/gtest.h>

#include "domain/inventory/metrics.h"
#include "roles/agent/agent.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

struct TelemetryTest : ::testing::Test {
    std::size_t told() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            world.master.others, [](const uplink::Frame& frame) { return frame.has_telemetry(); }));
    }
    const uplink::Telemetry& last() const { return world.master.others.back().telemetry(); }
    void watch(std::uint32_t interval_ms, std::uint32_t for_ms) {
        uplink::Frame frame;
        frame.mutable_watch_telemetry()->set_interval_ms(interval_ms);
        frame.mutable_watch_telemetry()->set_for_ms(for_ms);
        (void)world.master.link->try_send(frame);
        world.timers.settle();
    }
    World world;
};

TEST_F(TelemetryTest, ComesBetweenReportsOnlyWhileSomebodyLooks) {
    world.join();
    world.timers.advance(30s);
    EXPECT_EQ(told(), 0U);
    watch(1000, 15'000);
    EXPECT_EQ(told(), 1U) << "at once";
    for (int second = 0; second < 10; ++second) world.timers.advance(1s);
    EXPECT_EQ(told(), 11U);
    for (int second = 0; second < 30; ++second) world.timers.advance(1s);
    EXPECT_EQ(told(), 15U) << "nobody has said since that they look";
    EXPECT_EQ(last().gpus(0).uuid(), "GPU-1");
    EXPECT_EQ(last().gpus(0).values_size(), static_cast<int>(metric_names<GpuSample>().size()));
    EXPECT_EQ(last().host().values_size(), static_cast<int>(metric_names<HostSample>().size()));
    const std::size_t reports = world.master.reports.size();
    world.timers.advance(10s);
    EXPECT_EQ(world.master.reports.size(), reports + 1) << "reports come as ever";
}

TEST_F(TelemetryTest, TheOrderOfItsValuesIsSaidOnce) {
    world.join();
    const auto& hello = world.master.hellos.at(0);
    ASSERT_EQ(hello.gpu_metrics_size(), static_cast<int>(metric_names<GpuSample>().size()));
    EXPECT_EQ(hello.gpu_metrics(0), "utilisation_percent");
    EXPECT_EQ(hello.host_metrics_size(), static_cast<int>(metric_names<HostSample>().size()));
    ASSERT_EQ(hello.instance_metrics_size(), static_cast<int>(metric_names<InstanceSample>().size()));
    EXPECT_EQ(hello.instance_metrics(0), "cpu_ms");
}

TEST_F(TelemetryTest, WhatContainersUseIsInReportsWhileTheyRun) {
    world.join();
    world.engine.images.insert("demo");
    world.serve("10.201.3.5:8080");
    world.engine.on_launch = [&](const ContainerSpec& spec) {
        world.engine.containers.at(spec.name).id = "c0ffee";
    };
    world.master.order(world.start());
    world.timers.advance(30s);
    ASSERT_FALSE(world.master.reports.empty());
    EXPECT_EQ(world.master.reports.back().instances_size(), 0) << "nothing was measured: absent, not 0";
    world.host.samples["c0ffee"] = {.cpu_ms = 1500, .memory_bytes = 1 << 20, .network_sent_bytes = 7};
    world.host.samples["of-another"] = {.cpu_ms = 1};
    world.timers.advance(15s);
    const auto& report = world.master.reports.back();
    ASSERT_EQ(report.instances_size(), 1);
    EXPECT_EQ(report.instances(0).instance(), "i-1");
    InstanceSample sample;
    unpack_metrics(
        {report.instances(0).values().data(), static_cast<std::size_t>(report.instances(0).values_size())},
        sample);
    EXPECT_EQ(sample, (InstanceSample{.cpu_ms = 1500, .memory_bytes = 1 << 20, .network_sent_bytes = 7}));
    world.engine.containers.at("hostler-i-1").state = ContainerState::exited;
    world.timers.advance(60s);
    EXPECT_EQ(world.master.reports.back().instances_size(), 0) << "it does not run";
}

TEST_F(TelemetryTest, WhatEachInstanceCostsItsGpu) {
    world.join();
    world.engine.images.insert("demo");
    world.serve("10.201.3.5:8080");
    world.master.order(world.start());
    world.timers.advance(2s);
    ASSERT_TRUE(world.engine.containers.contains("hostler-i-1"));
    world.engine.containers.at("hostler-i-1").id = "c0ffee";
    world.timers.advance(2s);
    world.telemetry.processes = {{.pid = 41, .memory_bytes = 1 << 20, .utilisation_percent = 40},
                                 {.pid = 42, .memory_bytes = 2 << 20, .utilisation_percent = 20},
                                 {.pid = 43, .memory_bytes = 5}};
    world.host.containers = {{41, "c0ffee"}, {42, "c0ffee"}};
    watch(1000, 5000);
    ASSERT_EQ(last().uses_size(), 2);
    EXPECT_EQ(last().uses(0).instance(), "") << "of no instance of ours";
    EXPECT_EQ(last().uses(0).processes(), 1U);
    EXPECT_FALSE(last().uses(0).has_utilisation_percent());
    EXPECT_EQ(last().uses(1).instance(), "i-1");
    EXPECT_EQ(last().uses(1).gpu(), "GPU-1");
    EXPECT_EQ(last().uses(1).processes(), 2U);
    EXPECT_EQ(last().uses(1).memory_bytes(), 3 << 20);
    EXPECT_EQ(last().uses(1).utilisation_percent(), 60);
    world.timers.advance(10s);
    EXPECT_EQ(world.master.reports.back().uses_size(), 2) << "reports tell it, too";
}

TEST_F(TelemetryTest, WhatBreaksWhileSomebodyLooksIsReportedAtOnce) {
    world.join();
    world.timers.advance(10s);
    watch(1000, 60'000);
    const auto breaks = [&](const char* health) {
        world.master.reports.clear();
        for (int second = 0; second < 5; ++second) world.timers.advance(1s);
        for (const auto& report : world.master.reports)
            if (report.has_facts() && report.facts().gpus(0).health() == health) return true;
        return false;
    };
    world.telemetry.shown.rows_pending = 1;
    EXPECT_TRUE(breaks("degraded"));
    const int before = world.telemetry.discoveries;
    world.telemetry.sampling = [&] {
        world.telemetry.faults.push_back({.uuid = "GPU-1", .kind = "xid", .code = 48});
    };
    EXPECT_TRUE(breaks("faulty"));
    EXPECT_GT(world.telemetry.discoveries, before) << "whoever heard of it, all is looked at anew";
}

TEST_F(TelemetryTest, ADriverThatHangsCostsItsGpuOnly) {
    world.join();
    world.telemetry.hangs = true;
    watch(1000, 60'000);
    for (int second = 0; second < 5; ++second) world.timers.advance(1s);
    ASSERT_GE(told(), 3U);
    EXPECT_EQ(last().gpus_size(), 0);
    EXPECT_TRUE(last().has_host());
    world.telemetry.hangs = false;
    world.telemetry.awake.notify_all();
    for (int second = 0; second < 3; ++second) world.timers.advance(1s);
    EXPECT_EQ(last().gpus_size(), 1);
}

}  // namespace
}  // namespace hostler::agent

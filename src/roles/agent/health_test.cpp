// Broken GPUs as the master hears of them: each kind of fault is put into the hardware, seen within 5 s at
// the default settings, and gone again by its way back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// The GPU as it was last told of.
uplink::Gpu told(const World& world) {
    uplink::HostFacts facts;
    if (!world.master.hellos.empty()) facts = world.master.hellos.back().facts();
    for (const auto& report : world.master.reports)
        if (report.has_facts()) facts = report.facts();
    return facts.gpus().empty() ? uplink::Gpu{} : facts.gpus(0);
}

struct Injected {
    const char* name;
    std::function<void(FakeTelemetry&)> breaks;
    const char* health;
    const char* remedy;
    const char* says;
    Duration lasts = 0s;  // Until it counts, beyond the 5 s.
};

GpuFault fault(std::string kind, std::int64_t code) {
    return {.uuid = "GPU-1", .kind = std::move(kind), .code = code};
}

std::function<void(FakeTelemetry&)> faulty(GpuFault what) {
    return [what](FakeTelemetry& gpu) { gpu.faults.push_back(what); };
}
std::function<void(FakeTelemetry&)> shows(std::function<void(GpuSample&)> change) {
    return [change](FakeTelemetry& gpu) { change(gpu.shown); };
}
GpuFault at(GpuFault what, std::string pci) {
    what.uuid.clear();
    what.pci_address = std::move(pci);
    return what;
}
GpuFault with(GpuFault what, std::int64_t info, std::int64_t status) {
    what.info = info, what.status = status;
    return what;
}
GpuFault of_switch(std::int64_t code, std::int64_t fatal) {
    return with(at(fault("sxid", code), ""), 0, fatal);
}

const std::vector<Injected> injected = {
    {"XID 48", faulty(fault("xid", 48)), "faulty", "drain_and_reset", "XID 48"},
    {"XID 62", faulty(fault("xid", 62)), "faulty", "drain_and_reset", "XID 62"},
    {"XID 63", faulty(fault("xid", 63)), "degraded", "drain_and_reset", "XID 63"},
    {"XID 64", faulty(fault("xid", 64)), "faulty", "drain_and_reset", "XID 64"},
    {"XID 74", faulty(fault("xid", 74)), "faulty", "drain_and_reset", "NVLink"},
    {"XID 79", faulty(fault("xid", 79)), "faulty", "reboot", "fallen off the bus"},
    {"XID 94", faulty(fault("xid", 94)), "degraded", "drain_and_reset", "XID 94"},
    {"XID 95", faulty(fault("xid", 95)), "faulty", "drain_and_reset", "XID 95"},
    {"XID 119", faulty(fault("xid", 119)), "faulty", "drain_and_reset", "system processor"},
    {"XID 54", faulty(fault("xid", 54)), "faulty", "service", "power"},
    {"XID 167 from the kernel's log", faulty(at(fault("xid", 167), "0000:07:00.0")), "faulty", "reboot",
     "PCIe"},
    {"NVLink 5, fatal", faulty(with(fault("xid", 149), 0x004505c6, 0)), "faulty", "drain_and_reset", "NETIR"},
    {"NVLink 5, not fatal", faulty(with(fault("xid", 144), 0x1, 0x1)), "healthy", "watch", "SAW"},
    {"SXID, fatal", faulty(of_switch(22003, 1)), "faulty", "reboot", "SXID 22003"},
    {"SXID, not fatal", faulty(of_switch(20009, 0)), "healthy", "watch", "SXID 20009"},
    {"XID 31", faulty(fault("xid", 31)), "healthy", "restart_app", "XID 31"},
    {"XID 999", faulty(fault("xid", 999)), "healthy", "watch", "999"},
    {"the driver asks for a reboot", faulty(fault("recovery_action", 2)), "faulty", "reboot", "reboot"},
    {"the driver cannot use it", faulty(fault("unavailable", 0)), "faulty", "drain_and_reset", "driver"},
    {"off the bus, from the kernel's log", faulty(at(fault("lost", 0), "0000:07:00.0")), "faulty", "reboot",
     "bus"},
    {"off the bus", shows([](GpuSample& s) { s.condition = GpuCondition::lost; }), "faulty", "reboot", "bus"},
    {"not there any more", shows([](GpuSample& s) { s.condition = GpuCondition::gone; }), "gone", "service",
     "is gone"},
    {"it does not answer", shows([](GpuSample& s) { s.condition = GpuCondition::unresponsive; }),
     "unresponsive", "drain_and_reset", "come back"},
    {"row remap pending", shows([](GpuSample& s) { s.rows_pending = 1; }), "degraded", "drain_and_reset",
     "remap"},
    {"row remap failed", shows([](GpuSample& s) { s.rows_failed = 1; }), "faulty", "replace", "replaced"},
    {"no spare rows", shows([](GpuSample& s) { s.rows_remapped_uncorrected = 600; }), "faulty", "replace",
     "spares"},
    {"too hot to go on",
     shows([](GpuSample& s) { s.temperature_celsius = 95, s.temperature_shutdown_celsius = 92; }), "faulty",
     "service", "cooling"},
    {"hot", shows([](GpuSample& s) { s.temperature_celsius = 89, s.temperature_slowdown_celsius = 87; }),
     "degraded", "service", "cooling", 64s},
    {"a narrow link under load", shows([](GpuSample& s) { s.utilisation_percent = 90, s.pcie_width = 4; }),
     "degraded", "service", "PCIe", 64s},
};

TEST(InjectedFaults, AreSeenWithinFiveSecondsAndComeBackByThemselves) {
    ASSERT_GE(injected.size(), 20u);
    for (const Injected& what : injected) {
        SCOPED_TRACE(what.name);
        World world;
        world.telemetry.shown.energy_mj = 1000;
        world.join();
        world.timers.advance(10s);
        ASSERT_EQ(told(world).health(), "healthy");
        ASSERT_EQ(told(world).evidence_size(), 0);
        what.breaks(world.telemetry);
        world.timers.advance(5s + what.lasts);
        EXPECT_EQ(told(world).health(), what.health);
        EXPECT_EQ(told(world).remedy(), what.remedy);
        EXPECT_THAT(told(world).health_reason(), HasSubstr(what.says));
        ASSERT_GE(told(world).evidence_size(), 1);
        if (told(world).health() == "healthy") continue;
        if (what.lasts == 0s) world.timers.advance(10min);
        EXPECT_EQ(told(world).health(), what.health) << "time alone heals nothing";
        // Somebody does what the remedy says: the GPU is away for a moment, and its energy starts over.
        world.telemetry.shown = {};
        world.telemetry.shown.uuid = "GPU-1";
        world.telemetry.shown.temperature_celsius = 40;
        world.telemetry.shown.temperature_slowdown_celsius = 87;
        world.telemetry.shown.utilisation_percent = 90;
        world.telemetry.shown.pcie_width = 16;
        world.telemetry.shown.energy_mj = 2;
        const bool unfit = told(world).health() != "degraded" && told(world).health() != "unresponsive";
        world.timers.advance(30s);
        if (unfit) {
            EXPECT_EQ(told(world).health(), "faulty") << "it is tested first";
            EXPECT_GT(told(world).testing_until(), 0);
        }
        world.timers.advance(6min);
        EXPECT_EQ(told(world).health(), "healthy") << told(world).health_reason();
        EXPECT_EQ(told(world).evidence_size(), 0);
    }
}

TEST(InjectedFaults, AFaultDuringTheTestKeepsItOut) {
    World world;
    world.telemetry.shown.energy_mj = 1000;
    world.join();
    world.timers.advance(10s);
    world.telemetry.faults.push_back(fault("xid", 48));
    world.timers.advance(20s);
    world.telemetry.shown.energy_mj = 2;
    world.timers.advance(1min);
    ASSERT_GT(told(world).testing_until(), 0);
    world.telemetry.faults.push_back(fault("xid", 48));
    world.timers.advance(1h);
    EXPECT_EQ(told(world).health(), "faulty");
    EXPECT_EQ(told(world).testing_until(), 0);
    EXPECT_EQ(told(world).evidence(0).count(), 2);
}

TEST(InjectedFaults, OutliveTheAgentAndEndWithAReboot) {
    World world;
    world.join();
    world.telemetry.faults.push_back(fault("xid", 79));
    world.timers.advance(5s);
    world.crash();
    world.master.reports.clear();
    world.join();
    world.timers.advance(10min);
    EXPECT_EQ(told(world).health(), "faulty") << "an agent that starts anew heals nothing";
    world.crash();
    world.master.reports.clear();
    world.host.boot_id = "boot-2";
    world.join();
    world.timers.advance(10s);
    EXPECT_GT(told(world).testing_until(), 0);
    world.timers.advance(6min);
    EXPECT_EQ(told(world).health(), "healthy");
}

TEST(InjectedFaults, AGpuThatIsMissingAfterABootIsMissed) {
    World world;
    world.join();
    world.timers.advance(5s);
    world.crash();
    world.master.reports.clear();
    world.telemetry.inventory.gpus.clear();
    world.join();
    world.timers.advance(5s);
    EXPECT_EQ(told(world).health(), "gone");
    EXPECT_EQ(told(world).model(), "H100 SXM5 80GB");
    uplink::Command forget = world.start("c-1");
    forget.set_subject("GPU-1");
    forget.mutable_test_gpu()->set_gpu("GPU-1");
    world.master.order(forget);
    world.timers.advance(5s);
    EXPECT_EQ(told(world).uuid(), "");
    world.crash();
    world.master.reports.clear();
    world.join();
    world.timers.advance(5s);
    EXPECT_EQ(told(world).uuid(), "") << "for good";
}

TEST(InjectedFaults, WhoSawToItHasItTested) {
    World world;
    world.join();
    world.telemetry.faults.push_back(fault("xid", 74));
    world.timers.advance(5s);
    uplink::Command test = world.start("c-1");
    test.set_subject("GPU-1");
    test.mutable_test_gpu()->set_gpu("GPU-1");
    world.master.order(test);
    world.timers.advance(5s);
    EXPECT_GT(told(world).testing_until(), 0);
    EXPECT_EQ(world.master.updates.back().state(), "done");
    test.set_id("c-2");
    test.mutable_test_gpu()->set_gpu("GPU-7");
    world.master.order(test);
    world.timers.advance(5s);
    EXPECT_EQ(world.master.updates.back().reason(), "gpu_not_found");
    world.timers.advance(6min);
    EXPECT_EQ(told(world).health(), "healthy");
}

// An hour of work as GPUs do it: nothing is said against any.
TEST(NormalLoad, RaisesNoAlarmInAnHour) {
    World world;
    world.join();
    world.master.reports.clear();
    GpuSample& gpu = world.telemetry.shown;
    gpu.temperature_slowdown_celsius = 87, gpu.temperature_shutdown_celsius = 92;
    gpu.energy_mj = 0, gpu.pcie_replays = 0, gpu.nvlink_errors = 0, gpu.ecc_corrected = 0,
    gpu.ecc_uncorrected = 0;
    for (int second = 0; second < 3600; second += 5) {
        const bool busy = second / 60 % 5 < 4;
        gpu.utilisation_percent = busy ? 60 + second % 40 : 0;
        gpu.temperature_celsius = busy ? 60 + second % 25 : 40;
        gpu.throttle_reasons = busy ? throttle_power_cap : throttle_idle;
        gpu.pcie_width = 16, gpu.pcie_generation = busy ? 5 : 1;
        gpu.nvlinks_active = 18;
        gpu.energy_mj = *gpu.energy_mj + 3'500'000;
        gpu.pcie_replays = second / 600, gpu.nvlink_errors = second / 100, gpu.ecc_corrected = second / 900;
        if (second % 900 == 0) world.telemetry.faults.push_back(fault("ecc_corrected", 1));
        world.timers.advance(5s);
    }
    for (const auto& report : world.master.reports)
        if (report.has_facts()) {
            EXPECT_EQ(report.facts().gpus(0).health(), "healthy");
            EXPECT_EQ(report.facts().gpus(0).evidence_size(), 0);
        }
    EXPECT_GE(world.telemetry.samples, 600);
}

}  // namespace
}  // namespace hostler::agent

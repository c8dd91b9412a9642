#include "adapters/intel/intel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/testing/file_tree.h"
#include "core/testing/real_timers.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Real threads, a clock moved by hand.
class HandClock : public testing::RealTimers {
public:
    using RealTimers::RealTimers;
    Instant now() const override { return shifted_ ? *shifted_ : RealTimers::now(); }
    void hold() { shifted_ = RealTimers::now(); }
    void advance(Duration time) { *shifted_ += time; }

private:
    std::optional<Instant> shifted_;
};

class IntelTest : public ::testing::Test {
protected:
    IntelTest() {
        settings.roots.sys = tree.path("sys");
        settings.roots.proc = tree.path("proc");
    }
    std::string card(int number, const std::string& address, const std::string& id,
                     const std::string& driver) {
        const std::string folder = "sys/devices/pci0000:00/" + address;
        tree.write(folder + "/vendor", "0x8086\n");
        tree.write(folder + "/device", id + "\n");
        tree.write(folder + "/drm/renderD" + std::to_string(128 + number) + "/x", "");
        tree.write("sys/bus/pci/drivers/" + driver + "/x", "");
        tree.link(folder + "/driver", "sys/bus/pci/drivers/" + driver);
        tree.link("sys/class/drm/card" + std::to_string(number) + "/device", folder);
        return folder;
    }
    template <class T>
    T run(Task<T> task) {
        return testing::run_real(loop, std::move(task)).value();
    }
    testing::FileTree tree;
    Loop loop;
    HandClock timers{loop};
    IntelSettings settings;
};

TEST_F(IntelTest, FactsAndSampleByXe) {
    const auto folder = card(0, "0000:03:00.0", "0xe20b", "xe");
    tree.write(folder + "/current_link_speed", "16.0 GT/s PCIe\n");
    tree.write(folder + "/current_link_width", "8\n");
    tree.write(folder + "/tile0/gt0/freq0/max_freq", "2850\n");
    tree.write(folder + "/tile0/gt0/freq0/act_freq", "2400\n");
    tree.write(folder + "/tile0/gt0/freq0/throttle/reason_pl1", "1\n");
    tree.write(folder + "/tile0/gt0/freq0/throttle/reason_thermal", "0\n");
    tree.write(folder + "/hwmon/hwmon3/energy1_input", "5000000\n");
    tree.write(folder + "/hwmon/hwmon3/power1_max", "190000000\n");
    tree.write(folder + "/hwmon/hwmon3/temp2_input", "63000\n");
    tree.write(folder + "/hwmon/hwmon3/temp3_input", "70000\n");
    Intel gpus{loop, timers, settings};
    const auto seen = run(gpus.discover());
    ASSERT_THAT(seen.gpus, SizeIs(1));
    const GpuFacts& gpu = seen.gpus[0];
    EXPECT_EQ(gpu.vendor, GpuVendor::intel);
    EXPECT_EQ(gpu.model, "Arc B580 12GB");
    EXPECT_EQ(gpu.memory_bytes, std::int64_t{12} << 30);
    EXPECT_EQ(gpu.uuid, "pci-0000:03:00.0");
    EXPECT_EQ(gpu.driver, "xe");
    EXPECT_EQ(gpu.clock_graphics_max_mhz, 2850);
    EXPECT_EQ(gpu.power_limit_mw, 190'000);
    EXPECT_EQ(gpu.cdi_name, "intel.com/gpu=card0");
    EXPECT_THAT(gpu.device_nodes, ElementsAre("/dev/dri/card0", "/dev/dri/renderD128"));

    timers.hold();
    auto now = run(gpus.sample()).front();
    EXPECT_EQ(now.uuid, gpu.uuid);
    EXPECT_EQ(now.energy_mj, 5000);
    EXPECT_EQ(now.power_mw, std::nullopt) << "one reading of a counter is no rate";
    EXPECT_EQ(now.temperature_celsius, 63);
    EXPECT_EQ(now.memory_temperature_celsius, 70);
    EXPECT_EQ(now.clock_graphics_mhz, 2400);
    EXPECT_EQ(now.throttle_reasons, throttle_power_cap);
    EXPECT_EQ(now.pcie_generation, 4);
    EXPECT_EQ(now.utilisation_percent, std::nullopt);

    timers.advance(2s);
    tree.write(folder + "/hwmon/hwmon3/energy1_input", "305000000\n");
    EXPECT_EQ(run(gpus.sample()).front().power_mw, 150'000) << "300 J in 2 s";
    timers.advance(2s);
    tree.write(folder + "/hwmon/hwmon3/energy1_input", "1000\n");
    EXPECT_EQ(run(gpus.sample()).front().power_mw, std::nullopt) << "the counter began anew";
}

TEST_F(IntelTest, SampleByI915) {
    const auto folder = card(1, "0000:04:00.0", "0x56c0", "i915");
    tree.write("sys/class/drm/card1/gt_act_freq_mhz", "1950\n");
    tree.write("sys/class/drm/card1/gt_max_freq_mhz", "2050\n");
    tree.write("sys/class/drm/card1/gt/gt0/throttle_reason_thermal", "1\n");
    tree.write(folder + "/hwmon/hwmon1/temp1_input", "55000\n");
    Intel gpus{loop, timers, settings};
    const auto seen = run(gpus.discover());
    ASSERT_THAT(seen.gpus, SizeIs(1));
    EXPECT_EQ(seen.gpus[0].model, "Data Center GPU Flex 170 16GB");
    EXPECT_EQ(seen.gpus[0].clock_graphics_max_mhz, 2050);
    EXPECT_EQ(seen.gpus[0].minor, 1);
    const auto now = run(gpus.sample()).front();
    EXPECT_EQ(now.clock_graphics_mhz, 1950);
    EXPECT_EQ(now.temperature_celsius, 55);
    EXPECT_EQ(now.throttle_reasons, throttle_thermal_software);
    EXPECT_EQ(now.energy_mj, std::nullopt);
}

TEST_F(IntelTest, ProcessesTellWhatTheyCost) {
    card(0, "0000:03:00.0", "0xe20b", "xe");
    tree.link("proc/812/fd/5", "dev/dri/renderD128");
    const auto told = [&](int cycles, int total) {
        tree.write("proc/812/fdinfo/5",
                   fmt::format("drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
                               "drm-resident-vram0:\t64 MiB\ndrm-cycles-ccs:\t{}\n"
                               "drm-total-cycles-ccs:\t{}\n",
                               cycles, total));
    };
    told(0, 0);
    Intel gpus{loop, timers, settings};
    run(gpus.discover());
    constexpr std::int64_t held = std::int64_t{64} << 20;
    EXPECT_THAT(run(gpus.sample()).front().processes.value(), ElementsAre(GpuProcess{812, held}));
    told(300, 1000);
    EXPECT_THAT(run(gpus.sample()).front().processes.value(), ElementsAre(GpuProcess{812, held, 30}));
    tree.remove("proc/812");
    EXPECT_EQ(run(gpus.sample()).front().processes, std::nullopt);
}

TEST_F(IntelTest, OthersAreNotIntels) {
    tree.write("sys/devices/pci0000:00/0000:05:00.0/vendor", "0x1002\n");
    tree.link("sys/class/drm/card0/device", "sys/devices/pci0000:00/0000:05:00.0");
    Intel gpus{loop, timers, settings};
    EXPECT_THAT(run(gpus.discover()).gpus, IsEmpty());
    EXPECT_THAT(run(gpus.sample()), IsEmpty());
}

TEST_F(IntelTest, RemovedIsGone) {
    const auto folder = card(0, "0000:03:00.0", "0xe20b", "xe");
    Intel gpus{loop, timers, settings};
    run(gpus.discover());
    EXPECT_EQ(run(gpus.sample()).front().condition, GpuCondition::ok);
    tree.remove(folder);
    EXPECT_EQ(run(gpus.sample()).front().condition, GpuCondition::gone);
}

}  // namespace
}  // namespace hostler

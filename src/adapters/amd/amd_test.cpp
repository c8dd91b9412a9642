#include "adapters/amd/amd.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "core/testing/file_tree.h"
#include "core/testing/real_timers.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t gib = std::int64_t{1} << 30;

class AmdTest : public ::testing::Test {
protected:
    AmdTest() {
        settings.roots.sys = tree.path("sys");
        settings.roots.proc = tree.path("proc");
    }

    // An MI300X as the kernel shows it; the path of its files.
    std::string card(int number, const std::string& address, const std::string& unique) {
        const std::string folder = "sys/devices/pci0000:00/" + address;
        const auto file = [&](const std::string& name, std::string_view text) {
            tree.write(folder + "/" + name, text);
        };
        file("vendor", "0x1002\n");
        file("device", "0x74a1\n");
        file("unique_id", unique + "\n");
        file("serial_number", "692251001124\n");
        file("vbios_version", "113-M3000100-102\n");
        file("numa_node", "1\n");
        file("current_link_speed", "32.0 GT/s PCIe\n");
        file("max_link_speed", "32.0 GT/s PCIe\n");
        file("current_link_width", "16\n");
        file("max_link_width", "16\n");
        file("mem_info_vram_total", "206141652992\n");
        file("mem_info_vram_used", "1073741824\n");
        file("gpu_busy_percent", "97\n");
        file("mem_busy_percent", "40\n");
        file("pp_dpm_sclk", "0: 132Mhz\n1: 1894Mhz *\n2: 2100Mhz\n");
        file("pp_dpm_mclk", "0: 900Mhz *\n1: 1300Mhz\n");
        file("pcie_replay_count", "2\n");
        file("hwmon/hwmon4/temp1_input", "45000\n");
        file("hwmon/hwmon4/temp2_input", "61000\n");
        file("hwmon/hwmon4/temp2_crit", "100000\n");
        file("hwmon/hwmon4/temp2_emergency", "105000\n");
        file("hwmon/hwmon4/temp3_input", "52000\n");
        file("hwmon/hwmon4/power1_input", "512000000\n");
        file("hwmon/hwmon4/power1_cap", "750000000\n");
        file("hwmon/hwmon4/power1_cap_max", "750000000\n");
        file("ras/umc_err_count", "ue: 1\nce: 7\n");
        file("ras/gfx_err_count", "ue: 0\nce: 2\n");
        file("ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n");
        file("drm/card" + std::to_string(number) + "/x", "");
        file("drm/renderD" + std::to_string(128 + number) + "/x", "");
        tree.write("sys/bus/pci/drivers/amdgpu/x", "");
        tree.link(folder + "/driver", "sys/bus/pci/drivers/amdgpu");
        tree.link("sys/class/drm/card" + std::to_string(number) + "/device", folder);
        return folder;
    }
    void kfd(int node, int gpu_id, int bus, std::vector<int> xgmi_to) {
        const std::string folder = "sys/class/kfd/kfd/topology/nodes/" + std::to_string(node);
        tree.write(folder + "/gpu_id", std::to_string(gpu_id));
        tree.write(folder + "/properties", fmt::format("cpu_cores_count 0\nsimd_count 1216\nvendor_id 4098\n"
                                                       "location_id {}\ndomain 0\ngfx_target_version 90402\n",
                                                       bus << 8));
        for (const int other : xgmi_to) {
            tree.write(fmt::format("{}/io_links/{}/properties", folder, other),
                       fmt::format("type 11\nnode_from {}\nnode_to {}\n", node, other));
        }
        tree.write(folder + "/io_links/99/properties", "type 2\nnode_to 0\n");
    }
    template <class T>
    T run(Task<T> task) {
        return testing::run_real(loop, std::move(task)).value();
    }

    testing::FileTree tree;
    Loop loop;
    testing::RealTimers timers{loop};
    AmdSettings settings;
};

TEST_F(AmdTest, FactsOfAnInstinct) {
    card(1, "0000:05:00.0", "ebfbe4e1dbd6b5c8");
    kfd(2, 4711, 5, {});
    tree.write("sys/class/drm/card1-DP-1/status", "");  // A connector.
    Amd amd{loop, timers, settings};
    const auto seen = run(amd.discover());
    ASSERT_THAT(seen.gpus, SizeIs(1));
    const GpuFacts& gpu = seen.gpus[0];
    EXPECT_EQ(gpu.vendor, GpuVendor::amd);
    EXPECT_EQ(gpu.uuid, "GPU-ebfbe4e1dbd6b5c8");
    EXPECT_EQ(gpu.model, "Instinct MI300X 192GB");
    EXPECT_EQ(gpu.pci_address, "0000:05:00.0");
    EXPECT_EQ(gpu.pci_id, "1002:74a1");
    EXPECT_EQ(gpu.memory_bytes, 206141652992);
    EXPECT_EQ(gpu.index, 0);
    EXPECT_EQ(gpu.minor, 1);
    EXPECT_EQ(gpu.serial, "692251001124");
    EXPECT_EQ(gpu.vbios, "113-M3000100-102");
    EXPECT_EQ(gpu.architecture, "gfx942");
    EXPECT_EQ(gpu.core_count, 19456);
    EXPECT_EQ(gpu.numa_node, 1);
    EXPECT_EQ(gpu.pcie_generation_max, 5);
    EXPECT_EQ(gpu.clock_graphics_max_mhz, 2100);
    EXPECT_EQ(gpu.power_limit_mw, 750'000);
    EXPECT_EQ(gpu.driver, "amdgpu");
    EXPECT_EQ(gpu.cdi_name, "amd.com/gpu=0");
    EXPECT_THAT(gpu.device_nodes, ElementsAre("/dev/dri/card1", "/dev/dri/renderD129"));
}

TEST_F(AmdTest, SampleOfAnInstinct) {
    const auto folder = card(0, "0000:05:00.0", "aa");
    kfd(1, 4711, 5, {});
    tree.write("sys/class/kfd/kfd/proc/812/vram_4711", "2147483648\n");
    tree.write("sys/class/kfd/kfd/proc/99/vram_4711", "1073741824\n");
    tree.write("sys/class/kfd/kfd/proc/7/vram_4712", "1\n");  // Another GPU's.
    std::string metrics(1664, '\xff');
    metrics[0] = '\x80';
    metrics[1] = '\x06';
    metrics[2] = 1;
    metrics[3] = 6;
    const std::uint64_t energy = 65536ULL * 1000;
    std::memcpy(metrics.data() + 16, &energy, sizeof energy);
    metrics.back() = '\n';  // Binary: nothing may be trimmed.
    tree.write(folder + "/gpu_metrics", metrics);
    Amd amd{loop, timers, settings};
    run(amd.discover());
    const auto samples = run(amd.sample());
    ASSERT_THAT(samples, SizeIs(1));
    const GpuSample& now = samples[0];
    EXPECT_EQ(now.uuid, "GPU-aa");
    EXPECT_EQ(now.utilisation_percent, 97);
    EXPECT_EQ(now.memory_used_bytes, gib);
    EXPECT_EQ(now.temperature_celsius, 61) << "the junction, not the edge";
    EXPECT_EQ(now.temperature_slowdown_celsius, 100);
    EXPECT_EQ(now.memory_temperature_celsius, 52);
    EXPECT_EQ(now.power_mw, 512'000);
    EXPECT_EQ(now.power_limit_mw, 750'000);
    EXPECT_EQ(now.energy_mj, 1'000'013) << "from gpu_metrics";
    EXPECT_EQ(now.clock_graphics_mhz, 1894) << "the starred one";
    EXPECT_EQ(now.ecc_uncorrected, 1);
    EXPECT_EQ(now.ecc_corrected, 9);
    EXPECT_EQ(now.pages_retired, 1);
    EXPECT_EQ(now.pages_pending, 1);
    EXPECT_EQ(now.pcie_replays, 2);
    EXPECT_EQ(now.pcie_generation, 5);
    EXPECT_EQ(now.fan_percent, std::nullopt);
    ASSERT_TRUE(now.processes);
    EXPECT_THAT(*now.processes, ElementsAre(GpuProcess{99, gib}, GpuProcess{812, 2 * gib}));
}

TEST_F(AmdTest, DescriptorsTellWhatTheComputeDriverDoesNot) {
    card(0, "0000:05:00.0", "aa");
    kfd(1, 4711, 5, {});
    tree.write("sys/class/kfd/kfd/proc/812/vram_4711", "2147483648\n");
    const auto drm = [&](int pid, std::string_view address, std::int64_t gfx_ns, int mib) {
        tree.remove(fmt::format("proc/{}/fd/5", pid));
        tree.link(fmt::format("proc/{}/fd/5", pid), "dev/dri/renderD128");
        tree.write(fmt::format("proc/{}/fdinfo/5", pid),
                   fmt::format("drm-driver:\tamdgpu\ndrm-client-id:\t{}\ndrm-pdev:\t{}\n"
                               "drm-memory-vram:\t{} MiB\ndrm-engine-gfx:\t{} ns\n",
                               pid, address, mib, gfx_ns));
    };
    drm(812, "0000:05:00.0", 0, 1024);
    drm(900, "0000:05:00.0", 0, 512);
    drm(901, "0000:26:00.0", 0, 512);
    Amd amd{loop, timers, settings};
    run(amd.discover());
    EXPECT_THAT(run(amd.sample())[0].processes.value(),
                ElementsAre(GpuProcess{812, 2 * gib}, GpuProcess{900, gib / 2}));
    drm(900, "0000:05:00.0", 3600'000'000'000, 512);
    EXPECT_THAT(run(amd.sample())[0].processes.value(),
                ElementsAre(GpuProcess{812, 2 * gib}, GpuProcess{900, gib / 2, 100}))
        << "how busy the compute driver keeps it is not told";
}

TEST_F(AmdTest, XgmiJoins) {
    card(0, "0000:05:00.0", "a");
    card(1, "0000:26:00.0", "b");
    kfd(1, 1, 0x05, {2});
    kfd(2, 2, 0x26, {1});
    Amd amd{loop, timers, settings};
    const auto seen = run(amd.discover());
    EXPECT_THAT(seen.topology, ElementsAre(GpuLink{"GPU-a", "GPU-b", GpuLinkKind::nvlink, 1}));
    ASSERT_THAT(seen.gpus[0].nvlinks, SizeIs(1));
    EXPECT_EQ(seen.gpus[0].nvlinks[0].remote_uuid, "GPU-b");
}

TEST_F(AmdTest, DiesThatShareAnIdStayTwo) {
    card(0, "0000:05:00.0", "same");
    card(1, "0000:06:00.0", "same");
    Amd amd{loop, timers, settings};
    const auto seen = run(amd.discover());
    EXPECT_EQ(seen.gpus[0].uuid, "GPU-same-0000:05:00.0");
    EXPECT_EQ(seen.gpus[1].uuid, "GPU-same-0000:06:00.0");
}

TEST_F(AmdTest, BareFilesAreEnough) {
    tree.write("sys/devices/pci0000:00/0000:05:00.0/vendor", "0x1002\n");
    tree.link("sys/class/drm/card0/device", "sys/devices/pci0000:00/0000:05:00.0");
    tree.write("sys/devices/pci0000:00/0000:06:00.0/vendor", "0x8086\n");
    tree.link("sys/class/drm/card1/device", "sys/devices/pci0000:00/0000:06:00.0");
    Amd amd{loop, timers, settings};
    const auto seen = run(amd.discover());
    ASSERT_THAT(seen.gpus, SizeIs(1)) << "the other is Intel's";
    EXPECT_EQ(seen.gpus[0].uuid, "pci-0000:05:00.0");
    const auto samples = run(amd.sample());
    GpuSample nothing;
    nothing.uuid = "pci-0000:05:00.0";
    EXPECT_THAT(samples, ElementsAre(nothing));
}

TEST_F(AmdTest, NoDriverNoGpus) {
    Amd amd{loop, timers, settings};
    EXPECT_THAT(run(amd.discover()).gpus, IsEmpty());
    EXPECT_THAT(run(amd.sample()), IsEmpty());
}

TEST_F(AmdTest, AFileThatHangsCostsOneGpu) {
    const auto first = card(0, "0000:05:00.0", "a");
    card(1, "0000:26:00.0", "b");
    settings.timeout = 200ms;
    Amd amd{loop, timers, settings};
    run(amd.discover());
    tree.remove(first + "/gpu_busy_percent");
    const auto fifo = tree.path(first + "/gpu_busy_percent");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);  // Opening it to read blocks until somebody writes.
    for (int i = 0; i < 2; ++i) {
        const auto samples = run(amd.sample());
        EXPECT_EQ(samples[0].condition, GpuCondition::unresponsive);
        EXPECT_EQ(samples[1].condition, GpuCondition::ok);
        EXPECT_EQ(samples[1].utilisation_percent, 97);
    }
    const auto threads = list_folder("/proc/self/task").size();
    run(amd.discover());
    EXPECT_EQ(run(amd.sample())[0].condition, GpuCondition::unresponsive);
    EXPECT_EQ(list_folder("/proc/self/task").size(), threads) << "a new look costs no other stuck thread";
    const int writer = open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(writer, 0);
    tree.remove(first + "/gpu_busy_percent");
    close(writer);
    while (run(amd.sample())[0].condition != GpuCondition::ok) std::this_thread::sleep_for(1ms);
}

TEST_F(AmdTest, RemovedIsGone) {
    const auto folder = card(0, "0000:05:00.0", "a");
    Amd amd{loop, timers, settings};
    run(amd.discover());
    tree.remove(folder);
    EXPECT_EQ(run(amd.sample())[0].condition, GpuCondition::gone);
}

}  // namespace
}  // namespace hostler

#include "adapters/sysfs/pci.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/file_tree.h"
#include "core/testing/real_timers.h"

namespace hostler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PciTest : public ::testing::Test {
protected:
    PciTest() { settings.roots.sys = tree.path("sys"); }

    // A device at a place like "pci0000:00/0000:00:01.0/0000:01:00.0".
    std::string device(const std::string& place, const std::string& vendor, const std::string& id,
                       const std::string& code = "0x030200") {
        const std::string address = place.substr(place.rfind('/') + 1);
        const std::string folder = "sys/devices/" + place;
        tree.write(folder + "/class", code + "\n");
        tree.write(folder + "/vendor", vendor + "\n");
        tree.write(folder + "/device", id + "\n");
        tree.write(folder + "/numa_node", "0\n");
        tree.link("sys/bus/pci/devices/" + address, folder);
        return folder;
    }
    template <class T>
    T run(Task<T> task) {
        return testing::run_real(loop, std::move(task)).value();
    }

    testing::FileTree tree;
    Loop loop;
    testing::RealTimers timers{loop};
    PciSettings settings;
};

TEST_F(PciTest, ListsEveryBrandDriverOrNot) {
    const auto nvidia = device("pci0000:00/0000:00:01.0/0000:01:00.0", "0x10de", "0x2330");
    tree.write(nvidia + "/current_link_speed", "2.5 GT/s PCIe\n");
    tree.write(nvidia + "/max_link_speed", "32.0 GT/s PCIe\n");
    tree.write(nvidia + "/current_link_width", "16\n");
    tree.write(nvidia + "/max_link_width", "16\n");
    tree.write("sys/bus/pci/drivers/vfio-pci/x", "");
    tree.link(nvidia + "/driver", "sys/bus/pci/drivers/vfio-pci");
    device("pci0000:00/0000:00:02.0/0000:02:00.0", "0x1002", "0x74a1", "0x120000");
    device("pci0000:00/0000:00:03.0/0000:03:00.0", "0x8086", "0x56c0", "0x038000");
    device("pci0000:00/0000:00:04.0/0000:04:00.0", "0x19e5", "0xd802", "0x120000");
    PciBus bus{loop, timers, settings};
    const auto seen = run(bus.discover());
    ASSERT_THAT(seen.gpus, SizeIs(4));
    EXPECT_EQ(seen.gpus[0].uuid, "pci-0000:01:00.0");
    EXPECT_EQ(seen.gpus[0].vendor, GpuVendor::nvidia);
    EXPECT_EQ(seen.gpus[0].model, "H100 SXM5 80GB");
    EXPECT_EQ(seen.gpus[0].driver, "vfio-pci");
    EXPECT_EQ(seen.gpus[0].pcie_generation, 1);
    EXPECT_EQ(seen.gpus[0].pcie_generation_max, 5);
    EXPECT_EQ(seen.gpus[0].pcie_width, 16);
    EXPECT_EQ(seen.gpus[0].numa_node, 0);
    EXPECT_EQ(seen.gpus[0].cdi_name, "") << "nobody can lend it";
    EXPECT_EQ(seen.gpus[1].vendor, GpuVendor::amd);
    EXPECT_EQ(seen.gpus[1].driver, "");
    EXPECT_EQ(seen.gpus[2].model, "Data Center GPU Flex 170 16GB");
    EXPECT_EQ(seen.gpus[3].vendor, GpuVendor::other);
    EXPECT_EQ(seen.gpus[3].model, "GPU 19e5:d802");
}

TEST_F(PciTest, LeavesOutWhatIsNoGpu) {
    device("pci0000:00/0000:00:01.0/0000:01:00.0", "0x1a03", "0x2000", "0x030000");  // A BMC's screen.
    device("pci0000:00/0000:00:02.0", "0x1af4", "0x1050", "0x030000");               // virtio's.
    device("pci0000:00/0000:00:03.0", "0x10de", "0x22a3", "0x068000");               // An NVSwitch.
    const auto function = device("pci0000:00/0000:00:04.0/0000:04:00.1", "0x1002", "0x74b5", "0x120000");
    tree.link(function + "/physfn", "sys/devices/pci0000:00/0000:00:04.0/0000:04:00.0");
    PciBus bus{loop, timers, settings};
    EXPECT_THAT(run(bus.discover()).gpus, IsEmpty());
}

TEST_F(PciTest, NoBusIsNoGpus) {
    PciBus bus{loop, timers, settings};
    EXPECT_THAT(run(bus.discover()).gpus, IsEmpty());
    EXPECT_THAT(run(bus.sample()), IsEmpty());
}

TEST_F(PciTest, SeesOneGo) {
    const auto first = device("pci0000:00/0000:00:01.0/0000:01:00.0", "0x10de", "0x2330");
    tree.write(first + "/current_link_speed", "32.0 GT/s PCIe\n");
    tree.write(first + "/current_link_width", "8\n");
    const auto second = device("pci0000:00/0000:00:02.0/0000:02:00.0", "0x10de", "0x2330");
    PciBus bus{loop, timers, settings};
    run(bus.discover());
    tree.remove(second);
    tree.remove("sys/bus/pci/devices/0000:02:00.0");
    const auto samples = run(bus.sample());
    ASSERT_THAT(samples, SizeIs(2));
    EXPECT_EQ(samples[0].condition, GpuCondition::ok);
    EXPECT_EQ(samples[0].pcie_generation, 5);
    EXPECT_EQ(samples[0].pcie_width, 8);
    EXPECT_EQ(samples[1].condition, GpuCondition::gone);
    EXPECT_EQ(samples[1].uuid, "pci-0000:02:00.0");
}

TEST_F(PciTest, LinksByTheDeviceTree) {
    // Two behind one switch, a third behind a switch below it, one at the same bridge, two at other bridges.
    const std::string port = "pci0000:00/0000:00:01.0/0000:01:00.0";
    device(port + "/0000:02:00.0/0000:03:00.0", "0x10de", "0x2331");
    device(port + "/0000:02:01.0/0000:04:00.0", "0x10de", "0x2331");
    device(port + "/0000:02:02.0/0000:05:00.0/0000:06:00.0/0000:07:00.0", "0x10de", "0x2331");
    device("pci0000:00/0000:00:02.0/0000:08:00.0", "0x10de", "0x2331");
    device("pci0000:40/0000:40:01.0/0000:41:00.0", "0x10de", "0x2331");
    tree.write(device("pci0000:80/0000:80:01.0/0000:81:00.0", "0x10de", "0x2331") + "/numa_node", "1\n");
    PciBus bus{loop, timers, settings};
    const auto seen = run(bus.discover());
    std::map<std::string, GpuLinkKind> from_first;
    for (const auto& link : seen.topology) {
        if (link.a == "pci-0000:03:00.0") from_first[link.b.substr(9)] = link.kind;
    }
    EXPECT_EQ(seen.topology.size(), 15u);
    EXPECT_THAT(from_first,
                ElementsAre(std::pair("04:00.0", GpuLinkKind::pix), std::pair("07:00.0", GpuLinkKind::pxb),
                            std::pair("08:00.0", GpuLinkKind::phb), std::pair("41:00.0", GpuLinkKind::node),
                            std::pair("81:00.0", GpuLinkKind::sys)));
}

}  // namespace
}  // namespace hostler

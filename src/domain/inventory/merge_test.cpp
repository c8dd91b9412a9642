#include "domain/inventory/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using testing::ElementsAre;

GpuFacts gpu(std::string uuid, std::string pci) {
    GpuFacts facts;
    facts.uuid = std::move(uuid);
    facts.pci_address = std::move(pci);
    return facts;
}

GpuInventory inventory(std::string source, std::vector<GpuFacts> gpus) {
    GpuInventory seen;
    seen.source = std::move(source);
    seen.gpus = std::move(gpus);
    return seen;
}

TEST(PciAddress, IsWrittenInOneWay) {
    EXPECT_EQ(normal_pci_address("00000000:07:00.0"), "0000:07:00.0");
    EXPECT_EQ(normal_pci_address("0000:AF:1F.7"), "0000:af:1f.7");
    EXPECT_EQ(normal_pci_address("07:00.0"), "0000:07:00.0");
    EXPECT_EQ(normal_pci_address("0008:07:00"), "0008:07:00.0");
    EXPECT_EQ(normal_pci_address("00010000:07:00.0"), "10000:07:00.0");
    for (const auto* wrong :
         {"", ":", "07", "0000:07:20.0", "0000:07:00.8", "0000:107:00.0", "a:b:c:d", "0000:0g:00.0"}) {
        EXPECT_EQ(normal_pci_address(wrong), "") << wrong;
    }
}

TEST(Merge, OneGpuSeenByTwoIsOne) {
    auto bus = gpu("pci-0000:07:00.0", "0000:07:00.0");
    bus.numa_node = 1;
    bus.pci_id = "10de:2330";
    bus.pcie_width_max = 8;
    auto driver = gpu("GPU-1", "0000:07:00.0");
    driver.pcie_width_max = 16;
    driver.model = "H100 SXM5 80GB";
    for (const bool bus_first : {false, true}) {
        std::vector<GpuInventory> seen{inventory("nvml", {driver}), inventory("pci", {bus})};
        if (bus_first) std::swap(seen[0], seen[1]);
        const auto host = merge_inventories({}, seen);
        ASSERT_EQ(host.gpus.size(), 1u);
        EXPECT_EQ(host.gpus[0].uuid, "GPU-1") << "a real UUID beats one made of the address";
        EXPECT_EQ(host.gpus[0].model, "H100 SXM5 80GB");
        EXPECT_EQ(host.gpus[0].numa_node, 1);
        EXPECT_EQ(host.gpus[0].pcie_width_max, bus_first ? 8 : 16) << "the first is believed";
        EXPECT_EQ(host.gpus[0].sources.size(), 2u);
    }
}

TEST(Merge, LinksFollowTheName) {
    auto seen =
        inventory("pci", {gpu("pci-0000:07:00.0", "0000:07:00.0"), gpu("pci-0000:08:00.0", "0000:08:00.0")});
    seen.topology = {{"pci-0000:07:00.0", "pci-0000:08:00.0", GpuLinkKind::pix, 0}};
    auto nvml = inventory("nvml", {gpu("GPU-z", "0000:07:00.0"), gpu("GPU-a", "0000:08:00.0")});
    auto host = merge_inventories({}, {nvml, seen});
    EXPECT_THAT(host.topology, ElementsAre(GpuLink{"GPU-a", "GPU-z", GpuLinkKind::pix, 0}));
    nvml.topology = {{"GPU-z", "GPU-a", GpuLinkKind::nvlink, 18},
                     {"GPU-z", "GPU-unknown", GpuLinkKind::sys, 0}};
    host = merge_inventories({}, {seen, nvml});
    EXPECT_THAT(host.topology, ElementsAre(GpuLink{"GPU-a", "GPU-z", GpuLinkKind::nvlink, 18}))
        << "the better link is the pair's";
}

TEST(Merge, OrderedByAddressWhateverTheIndexSays) {
    const auto host = merge_inventories(
        {}, {inventory("nvml", {gpu("GPU-b", "0000:81:00.0"), gpu("GPU-c", "0000:07:00.0")}),
             inventory("other", {gpu("X", ""), gpu("X", "")})});
    std::vector<std::string> order;
    for (const auto& g : host.gpus) order.push_back(g.uuid);
    EXPECT_THAT(order, ElementsAre("X", "GPU-c", "GPU-b"));
}

TEST(Merge, SimulatedOnlyWhenItHasGpus) {
    auto nvml = inventory("nvml", {});
    nvml.simulated = true;
    nvml.problems = {"driver version unknown"};
    EXPECT_FALSE(merge_inventories({}, {nvml}).simulated);
    nvml.gpus = {gpu("GPU-1", "0000:07:00.0")};
    const auto host = merge_inventories({}, {nvml});
    EXPECT_TRUE(host.simulated);
    EXPECT_THAT(host.problems, ElementsAre("nvml: driver version unknown"));
}

TEST(Merge, NvLinkPeersGetTheirUuid) {
    auto a = gpu("GPU-a", "0000:07:00.0");
    a.nvlinks = {{0, true, "0000:08:00.0", "", false}, {1, true, "0000:c1:00.0", "", true}};
    const auto host = merge_inventories({}, {inventory("nvml", {a, gpu("GPU-b", "0000:08:00.0")})});
    EXPECT_EQ(host.gpus[0].nvlinks[0].remote_uuid, "GPU-b");
    EXPECT_EQ(host.gpus[0].nvlinks[1].remote_uuid, "");
}

TEST(Compare, GoneNewChanged) {
    const auto a = gpu("GPU-a", "0000:07:00.0");
    auto b = gpu("GPU-b", "0000:08:00.0");
    const auto c = gpu("GPU-c", "0000:09:00.0");
    auto b_after = b;
    b_after.vbios = "96.00.61";
    b_after.pcie_generation = 1;
    EXPECT_THAT(compare_gpus({a, b}, {b_after, c}),
                ElementsAre(GpuChange{GpuChangeKind::gone, "GPU-a", {}},
                            GpuChange{GpuChangeKind::changed, "GPU-b", {"vbios"}},
                            GpuChange{GpuChangeKind::appeared, "GPU-c", {}}));
}

TEST(Compare, ALinkThatSleepsIsNoChange) {
    auto before = gpu("GPU-a", "0000:07:00.0");
    before.pcie_generation = 5;
    auto after = before;
    after.pcie_generation = 1;
    after.sources = {"nvml"};
    EXPECT_THAT(compare_gpus({before}, {after}), ElementsAre());
}

}  // namespace
}  // namespace hostler

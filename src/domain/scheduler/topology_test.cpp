#include "domain/scheduler/topology.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

// Eight GPUs: NVLink within each four, PCIe switches of two, one NUMA node for each four.
HostFacts eight() {
    HostFacts facts;
    for (int i = 0; i < 8; ++i)
        facts.gpus.push_back({.uuid = std::string{"GPU-"} + static_cast<char>('0' + i), .numa_node = i / 4});
    for (int a = 0; a < 8; ++a)
        for (int b = a + 1; b < 8; ++b) {
            const GpuLinkKind kind = a / 4 == b / 4 ? GpuLinkKind::nvlink : GpuLinkKind::sys;
            facts.topology.push_back({facts.gpus[static_cast<std::size_t>(a)].uuid,
                                      facts.gpus[static_cast<std::size_t>(b)].uuid, kind});
        }
    return facts;
}

TEST(Topology, ReadsWhatTheAgentSaw) {
    HostFacts facts = eight();
    facts.topology.push_back({"GPU-0", "GPU-1", GpuLinkKind::pix});
    facts.topology.push_back({"GPU-0", "GPU-gone", GpuLinkKind::pix});
    const Topology made = topology_of(facts);
    EXPECT_EQ(made.nvlink[0], made.nvlink[3]);
    EXPECT_NE(made.nvlink[3], made.nvlink[4]);
    EXPECT_EQ(made.pcie[0], made.pcie[1]);
    EXPECT_NE(made.pcie[1], made.pcie[2]);
    EXPECT_EQ(made.numa[4], made.numa[7]);
    EXPECT_NE(made.numa[0], made.numa[4]);
}

TEST(Topology, TakesTheGroupWithFewestToSpare) {
    const Topology made = topology_of(eight());
    EXPECT_EQ(pick(made, Link::any, 0b1110'1111, 3), 0b1110'0000) << "the other four stay whole";
    EXPECT_EQ(pick(made, Link::any, 0b1111'1111, 4), 0b0000'1111);
    EXPECT_EQ(pick(made, Link::any, 0b0111'0111, 4), 0b0001'0111) << "no four are linked: any four";
    EXPECT_EQ(pick(made, Link::nvlink, 0b0111'0111, 4), 0) << "or none";
    EXPECT_EQ(pick(made, Link::nvlink, 0b0111'0111, 3), 0b0000'0111);
    EXPECT_EQ(pick(made, Link::any, 0b1, 2), 0);
}

TEST(Topology, KnowsTheMostThatAreLinked) {
    const Topology made = topology_of(eight());
    EXPECT_EQ(most(made, Link::nvlink, 0b0111'0011), 3);
    EXPECT_EQ(most(made, Link::pcie, 0b1111'1111), 1);
    EXPECT_EQ(most(made, Link::any, 0b0111'0011), 5);
    EXPECT_EQ(most(made, Link::numa, 0), 0);
}

}  // namespace
}  // namespace hostler

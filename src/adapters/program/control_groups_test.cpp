#include "adapters/program/control_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "adapters/program/device_filter.h"

namespace hostler::program {
namespace {

using ::testing::ElementsAre;

// As systemd mounts version 1, with controllers that share a hierarchy, and version 2 beside it.
constexpr std::string_view hybrid =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
    "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
    "38 31 0:35 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    "42 31 0:38 / /mnt/again rw,relatime - cgroup2 cgroup2 rw\n"
    "garbage\n";

constexpr GroupLimits limits{.cpu_milli = 1500, .memory_bytes = 1 << 20, .pids_max = 64};
constexpr GroupDevice devices[] = {{.major = 1, .minor = 3}, {.block = true, .major = 7, .minor = -1}};

const GroupPlan& at(const std::vector<GroupPlan>& groups, const std::string& folder) {
    const auto found = std::ranges::find(groups, folder, &GroupPlan::folder);
    HOSTLER_ASSERT(found != groups.end());
    return *found;
}

TEST(ControlGroups, HierarchiesAreThoseThatAreMounted) {
    const auto found = parse_hierarchies(hybrid);
    ASSERT_EQ(found.size(), 8U);
    EXPECT_EQ(found[0], (Hierarchy{.path = "/sys/fs/cgroup/cpu,cpuacct", .controllers = {"cpu", "cpuacct"}}));
    EXPECT_TRUE(found[6].of_systemd);
    EXPECT_EQ(found[7], (Hierarchy{.path = "/sys/fs/cgroup/unified", .unified = true}));
    EXPECT_EQ(version_of(found), 1);
    EXPECT_TRUE(parse_hierarchies("").empty());
}

TEST(ControlGroups, VersionOneHasAGroupInEachHierarchyThatIsUsed) {
    const auto groups = plan_groups(parse_hierarchies(hybrid), "ours", "x", limits, devices);
    ASSERT_TRUE(groups);
    EXPECT_EQ(groups->size(), 7U) << "all but blkio";
    EXPECT_THAT(
        at(*groups, "/sys/fs/cgroup/cpu,cpuacct/ours/x").values,
        ElementsAre(GroupValue{"cpu.cfs_period_us", "100000"}, GroupValue{"cpu.cfs_quota_us", "150000"}));
    EXPECT_THAT(at(*groups, "/sys/fs/cgroup/memory/ours/x").values,
                ElementsAre(GroupValue{"memory.limit_in_bytes", "1048576"},
                            GroupValue{"memory.memsw.limit_in_bytes", "1048576", true}));
    EXPECT_THAT(at(*groups, "/sys/fs/cgroup/pids/ours/x").values, ElementsAre(GroupValue{"pids.max", "64"}));
    EXPECT_THAT(at(*groups, "/sys/fs/cgroup/devices/ours/x").values,
                ElementsAre(GroupValue{"devices.deny", "a"}, GroupValue{"devices.allow", "c 1:3 rwm"},
                            GroupValue{"devices.allow", "b 7:* rwm"}));
    const auto& unified = at(*groups, "/sys/fs/cgroup/unified/ours/x");
    EXPECT_TRUE(unified.values.empty());
    EXPECT_EQ(unified.enabled, "");
    EXPECT_FALSE(unified.filter_devices) << "version 1 does it";
}

TEST(ControlGroups, VersionTwoHasOneGroup) {
    const Hierarchy only[] = {{.path = "/sys/fs/cgroup",
                               .unified = true,
                               .controllers = {"cpu", "cpuset", "io", "memory", "pids"}}};
    EXPECT_EQ(version_of(only), 2);
    const auto groups = plan_groups(only, "ours", "x", limits, devices);
    ASSERT_TRUE(groups);
    ASSERT_EQ(groups->size(), 1U);
    EXPECT_EQ(groups->front().parent, "/sys/fs/cgroup/ours");
    EXPECT_EQ(groups->front().enabled, "+cpu +memory +pids");
    EXPECT_TRUE(groups->front().filter_devices);
    EXPECT_THAT(groups->front().values,
                ElementsAre(GroupValue{"cpu.max", "150000 100000"}, GroupValue{"memory.max", "1048576"},
                            GroupValue{"memory.swap.max", "0", true}, GroupValue{"pids.max", "64"}));
    const auto holders = plan_holder_groups(only, "ours");
    ASSERT_EQ(holders.size(), 1U);
    EXPECT_EQ(holders[0].folder, "/sys/fs/cgroup/ours/holders");
}

TEST(ControlGroups, WithoutLimitsThereAreNoValuesButDevices) {
    const auto groups = plan_groups(parse_hierarchies(hybrid), "ours", "x", {}, {});
    ASSERT_TRUE(groups);
    for (const auto& group : *groups)
        EXPECT_EQ(group.values.size(), group.folder.contains("devices") ? 1U : 0U) << group.folder;
    const auto least = plan_groups(parse_hierarchies(hybrid), "ours", "x", {.cpu_milli = 1}, {});
    EXPECT_EQ(at(*least, "/sys/fs/cgroup/cpu,cpuacct/ours/x").values.back().value, "1000")
        << "no less is possible";
}

TEST(ControlGroups, AHostWithoutAControllerRunsNoPrograms) {
    auto found = parse_hierarchies(hybrid);
    std::erase_if(found, [](const Hierarchy& one) { return one.controllers.contains("memory"); });
    const auto groups = plan_groups(found, "ours", "x", limits, devices);
    ASSERT_FALSE(groups);
    EXPECT_EQ(groups.error().code, Code::unavailable);
    EXPECT_THAT(groups.error().message, ::testing::HasSubstr("'memory'"));
}

// What the kernel does with the instructions that we use.
bool allows(std::span<const bpf_insn> program, std::uint32_t type, std::uint32_t major, std::uint32_t minor) {
    const std::uint32_t context[] = {type | (BPF_DEVCG_ACC_READ << 16), major, minor};
    std::uint64_t registers[11] = {};
    for (std::size_t at = 0; at < program.size(); ++at) {
        const auto& one = program[at];
        if (one.code == (BPF_LDX | BPF_MEM | BPF_W))
            registers[one.dst_reg] = context[one.off / 4];
        else if (one.code == (BPF_ALU | BPF_AND | BPF_K))
            registers[one.dst_reg] &= static_cast<std::uint32_t>(one.imm);
        else if (one.code == (BPF_ALU64 | BPF_MOV | BPF_K))
            registers[one.dst_reg] = static_cast<std::uint64_t>(one.imm);
        else if (one.code == (BPF_JMP32 | BPF_JNE | BPF_K))
            at += registers[one.dst_reg] != static_cast<std::uint32_t>(one.imm)
                      ? static_cast<std::size_t>(one.off)
                      : 0;
        else if (one.code == (BPF_JMP | BPF_EXIT))
            return registers[0] == 1;
        else
            ADD_FAILURE() << "an instruction that is not known: " << int{one.code};
    }
    ADD_FAILURE() << "it does not end";
    return true;
}

TEST(DeviceFilter, OpensWhatIsNamedAndNothingElse) {
    const auto program = device_filter(devices);
    EXPECT_TRUE(allows(program, BPF_DEVCG_DEV_CHAR, 1, 3));
    EXPECT_FALSE(allows(program, BPF_DEVCG_DEV_CHAR, 1, 5));
    EXPECT_FALSE(allows(program, BPF_DEVCG_DEV_BLOCK, 1, 3));
    EXPECT_FALSE(allows(program, BPF_DEVCG_DEV_CHAR, 3, 1));
    EXPECT_TRUE(allows(program, BPF_DEVCG_DEV_BLOCK, 7, 0));
    EXPECT_TRUE(allows(program, BPF_DEVCG_DEV_BLOCK, 7, 255));
    EXPECT_FALSE(allows(program, BPF_DEVCG_DEV_BLOCK, 8, 0));
    EXPECT_FALSE(allows(device_filter({}), BPF_DEVCG_DEV_CHAR, 1, 3));
}

}  // namespace
}  // namespace hostler::program

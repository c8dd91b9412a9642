#include "adapters/sysfs/containers.h"

#include <gtest/gtest.h>

#include "adapters/sysfs/tables.h"
#include "core/testing/file_tree.h"

namespace hostler {
namespace {

// As a host with a disk, a partition of it, a volume's loop device and a device mapper wrote them.
constexpr std::string_view io_stat =
    "7:3 rbytes=1048576 wbytes=2097152 rios=16 wios=32 dbytes=0 dios=0\n"
    "8:16\n"
    "253:0 rbytes=500 wbytes=600 rios=1 wios=1 dbytes=0 dios=0\n"
    "259:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n"
    "8:0 rbytes=1000 wbytes=2000 rios=1 wios=2 dbytes=0 dios=0\n";
constexpr std::string_view io_service_bytes =
    "8:0 Read 1000\n8:0 Write 2000\n8:0 Sync 3000\n8:0 Async 0\n8:0 Discard 0\n8:0 Total 3000\n"
    "7:3 Read 1048576\n7:3 Write 0\n7:3 Total 1048576\nTotal 1051576\n";
constexpr std::string_view net_dev =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
    "carrier compressed\n"
    "    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n"
    "  eth0: 1500 3 0 0 0 0 0 0 700 2 0 0 0 0 0 0\n";

std::string disk_of(const std::string& number) {
    const std::map<std::string, std::string> names = {
        {"7:3", "loop3"}, {"8:0", "sda"}, {"8:16", "sdb"}, {"253:0", "dm-0"}, {"259:0", "nvme0n1"}};
    const auto found = names.find(number);
    return found == names.end() ? "" : found->second;
}

TEST(KernelTables, DisksOfAControlGroupAreCountedOnce) {
    EXPECT_EQ(group_disks(io_stat, disk_of), (DiskTraffic{5096, 10192}));
    EXPECT_EQ(group_disks("", disk_of), (DiskTraffic{0, 0})) << "nothing was moved";
    EXPECT_EQ(group_disks("9:9 rbytes=1 wbytes=1\n", disk_of), DiskTraffic{}) << "who knows what that is";
    EXPECT_EQ(group_disks("7:3 rbytes=1 wbytes=1\n", disk_of), (DiskTraffic{0, 0}));
    EXPECT_EQ(group_disks("8:0 rbytes= wbytes=x rios\n8:0", disk_of), (DiskTraffic{0, 0}));
    EXPECT_EQ(group_disk_reads(io_service_bytes, disk_of), 1000);
    EXPECT_EQ(group_disk_reads("Total 0\n", disk_of), 0);
    EXPECT_EQ(group_disk_reads("9:9 Read 1\n", disk_of), std::nullopt);
}

TEST(KernelTables, TrafficIsThatOfAllInterfacesButLoopback) {
    EXPECT_EQ(network_traffic(net_dev), (NetworkTraffic{1500, 700, 0}));
    EXPECT_EQ(network_traffic(""), NetworkTraffic{});
    EXPECT_EQ(network_traffic("    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"), NetworkTraffic{})
        << "a container without a network";
    EXPECT_EQ(network_traffic("eth0: 1 2 3\n  eth1 5\n"), NetworkTraffic{});
}

struct ContainersTest : ::testing::Test {
    ContainersTest() {
        tree.link("sys/dev/block/8:0", "sys/devices/pci0000:00/block/sda");
        tree.link("sys/dev/block/259:0", "sys/devices/pci0000:00/nvme/nvme0n1");
        link_to("proc/self/ns/net", "net:[4026531840]");
    }
    void link_to(const std::string& name, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(tree.path(name)).parent_path());
        std::filesystem::remove(tree.path(name));
        std::filesystem::create_symlink(text, tree.path(name));
    }
    // Of control groups of version 2.
    void group(const std::string& at, int cpu_us, const std::string& procs) {
        tree.write("groups/" + at + "/cpu.stat",
                   "usage_usec " + std::to_string(cpu_us) + "\nuser_usec 1\nsystem_usec 1\n");
        tree.write("groups/" + at + "/memory.current", "1000000\n");
        tree.write("groups/" + at + "/memory.stat", "anon 1\nfile 2\ninactive_file 400000\n");
        tree.write("groups/" + at + "/io.stat", io_stat);
        tree.write("groups/" + at + "/cgroup.procs", procs);
    }
    void process(int pid, const std::string& cgroup, const std::string& numbers,
                 const std::string& network = "net:[4026532999]") {
        const std::string at = "proc/" + std::to_string(pid);
        tree.write(at + "/status", "Name:\tdemo\nNSpid:\t" + numbers + "\nThreads:\t1\n");
        tree.write(at + "/cgroup", "0::" + cgroup + "\n");
        tree.write(at + "/net/dev", net_dev);
        link_to(at + "/ns/net", network);
    }
    Containers containers() {
        return {{tree.path("sys"), tree.path("proc"), tree.path("dev"), tree.path("etc")},
                tree.path("groups")};
    }
    const std::string a = std::string(64, 'a'), b = std::string(64, 'b');
    const std::string scope = "machine.slice/libpod-" + a + ".scope";
    testing::FileTree tree;
};

TEST_F(ContainersTest, WhatOneUses) {
    group(scope, 2'500'000, "");
    tree.write("groups/" + scope + "/container/cgroup.procs", "4712\n4711\n");
    process(4711, "/" + scope + "/container", "4711\t1");
    process(4712, "/" + scope + "/container", "4712\t7");
    auto all = containers();
    const auto samples = all.samples({a, b});
    ASSERT_EQ(samples.size(), 1u) << "the other does not run";
    EXPECT_EQ(samples.at(a), (InstanceSample{.cpu_ms = 2500,
                                             .memory_bytes = 600'000,
                                             .network_sent_bytes = 700,
                                             .network_received_bytes = 1500,
                                             .disk_read_bytes = 5096,
                                             .disk_written_bytes = 10192}));
}

TEST_F(ContainersTest, AfterARestartCountersAndProcessAreTheNewOnes) {
    group(scope, 9'000'000, "4711\n");
    process(4711, "/" + scope, "4711\t1");
    auto all = containers();
    EXPECT_EQ(all.samples({a}).at(a).network_sent_bytes, 700);
    tree.remove("groups/machine.slice");
    tree.remove("proc/4711");
    EXPECT_TRUE(all.samples({a}).empty()) << "absent, not 0";
    group(scope, 1'000, "5000\n");
    process(5000, "/" + scope, "5000\t1");
    EXPECT_EQ(all.samples({a}).at(a).cpu_ms, 1);
    EXPECT_EQ(all.samples({a}).at(a).network_sent_bytes, 700);
}

TEST_F(ContainersTest, TrafficOfAnotherIsNotShown) {
    group(scope, 1'000'000, "4711\n");
    process(4711, "/" + scope, "4711\t1");
    auto all = containers();
    ASSERT_EQ(all.samples({a}).at(a).network_sent_bytes, 700);
    process(4711, "/machine.slice/libpod-" + b + ".scope", "4711\t1");  // Its number was given again.
    EXPECT_EQ(all.samples({a}).at(a).network_sent_bytes, std::nullopt);
    EXPECT_EQ(all.samples({a}).at(a).cpu_ms, 1000) << "what is known is told";
    process(4711, "/" + scope, "4711\t1", "net:[4026531840]");
    EXPECT_EQ(all.samples({a}).at(a).network_sent_bytes, std::nullopt) << "the host's own network";
    // A container in it has a process 1, too.
    tree.write("groups/" + scope + "/cgroup.procs", "");
    tree.write("groups/" + scope + "/docker/" + b + "/cgroup.procs", "4800\n");
    tree.write("groups/" + scope + "/init/cgroup.procs", "4900\n");
    process(4800, "/" + scope + "/docker/" + b, "4800\t50\t1");
    process(4900, "/" + scope + "/init", "4900\t1");
    tree.remove("proc/4711");
    EXPECT_EQ(all.samples({a}).at(a).network_sent_bytes, std::nullopt) << "its process has just gone";
    EXPECT_EQ(all.samples({a}).at(a).network_sent_bytes, 700);
}

TEST_F(ContainersTest, WhatTheKernelDoesNotTellIsAbsent) {
    tree.write("groups/" + scope + "/cpu.stat", "usage_usec 1000\n");
    tree.write("groups/" + scope + "/memory.current", "1000\n");
    auto all = containers();
    EXPECT_EQ(all.samples({a}).at(a), (InstanceSample{.cpu_ms = 1}))
        << "memory without its idle part would be another figure";
}

TEST_F(ContainersTest, ControlGroupsOfVersionOne) {
    const std::string at = "/docker/" + a;
    tree.write("groups/pids" + at + "/cgroup.procs", "4711\n");
    tree.write("groups/cpuacct" + at + "/cpuacct.usage", "2500000000\n");
    tree.write("groups/memory" + at + "/memory.usage_in_bytes", "1000000\n");
    tree.write("groups/memory" + at + "/memory.stat", "inactive_file 1\ntotal_inactive_file 250000\n");
    tree.write("groups/blkio" + at + "/blkio.throttle.io_service_bytes_recursive", io_service_bytes);
    process(4711, at, "4711\t1");
    tree.link("sys/dev/block/7:3", "sys/devices/virtual/block/loop3");
    auto all = containers();
    EXPECT_EQ(all.samples({a}).at(a), (InstanceSample{.cpu_ms = 2500,
                                                      .memory_bytes = 750'000,
                                                      .network_sent_bytes = 700,
                                                      .network_received_bytes = 1500,
                                                      .disk_read_bytes = 1000}))
        << "who wrote is not known there";
}

TEST_F(ContainersTest, OneWithoutAGroupIsNotLookedForAgainAndAgain) {
    auto all = containers();
    for (int i = 0; i < Containers::looks_max; ++i) EXPECT_TRUE(all.samples({a}).empty());
    group(scope, 1'000'000, "");
    EXPECT_TRUE(all.samples({a}).empty());
    EXPECT_TRUE(all.samples({}).empty());
    EXPECT_EQ(all.samples({a}).at(a).cpu_ms, 1000) << "once it was left out of a question";
    EXPECT_EQ(container_of("/a/" + a + "/x"), a);
    EXPECT_EQ(container_of("/a/" + a + "f"), "");
}

}  // namespace
}  // namespace hostler

#include "adapters/sysfs/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sysfs/addresses.h"
#include "core/testing/file_tree.h"
#include "core/testing/real_timers.h"

namespace hostler {
namespace {

class LinuxHostTest : public ::testing::Test {
protected:
    LinuxHostTest() {
        settings.roots = {tree.path("sys"), tree.path("proc"), tree.path("dev"), tree.path("etc")};
        settings.disk = tree.path();
    }
    template <class T>
    T run(Task<T> task) {
        return testing::run_real(loop, std::move(task)).value();
    }
    testing::FileTree tree;
    Loop loop;
    testing::RealTimers timers{loop};
    LinuxHostSettings settings;
};

TEST_F(LinuxHostTest, FactsAsLinuxTellsThem) {
    tree.write("proc/sys/kernel/hostname", "gpu-7\n");
    tree.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    tree.write("proc/sys/kernel/random/boot_id", "2f1d2c6e-8d5c-4c12-9a3e-1d2f3a4b5c6d\n");
    tree.write("etc/os-release",
               "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    tree.write("proc/cpuinfo",
               "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu hypervisor sse\n\n"
               "processor\t: 1\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu hypervisor sse\n");
    tree.write("proc/meminfo", "MemTotal:       24682416 kB\nMemFree: 1 kB\n");
    LinuxHost host{loop, timers, settings};
    const auto facts = run(host.facts());
    EXPECT_EQ(facts.hostname, "gpu-7");
    EXPECT_EQ(facts.kernel, "6.1.0-18-amd64");
    EXPECT_EQ(facts.boot_id, "2f1d2c6e-8d5c-4c12-9a3e-1d2f3a4b5c6d");
    EXPECT_EQ(facts.os, "Debian GNU/Linux 12 (bookworm)");
    EXPECT_EQ(facts.cpu_model, "AMD EPYC 9654");
    EXPECT_EQ(facts.cpus, 2);
    EXPECT_TRUE(facts.virtual_machine);
    EXPECT_EQ(facts.memory_bytes, 24682416LL * 1024);
    EXPECT_GT(facts.disk_bytes, 0);
    EXPECT_LE(facts.disk_free_bytes, facts.disk_bytes);
    EXPECT_TRUE(facts.problems.empty());
    EXPECT_EQ(facts.serial + facts.system_uuid, "") << "as where only root may read them";
}

TEST_F(LinuxHostTest, TheMachinesIdentityIsThatOfItsFirmware) {
    const auto read = [&](const std::string& serial, const std::string& uuid) {
        tree.write("sys/class/dmi/id/product_serial", serial);
        tree.write("sys/class/dmi/id/product_uuid", uuid);
        LinuxHost host{loop, timers, settings};
        const auto facts = run(host.facts());
        return std::pair{facts.serial, facts.system_uuid};
    };
    EXPECT_EQ(
        read("  S411732X2A07412 \n", "4c4c4544-0039-4a10-8052-b4c04f4d3233\n"),
        (std::pair<std::string, std::string>{"S411732X2A07412", "4c4c4544-0039-4a10-8052-b4c04f4d3233"}));
    for (const char* nothing : {"", "0", "To Be Filled By O.E.M.\n", "Default string", "System Serial Number",
                                "0000000", "xxxxxxxx", "None"})
        EXPECT_EQ(read(nothing, "00000000-0000-0000-0000-000000000000"),
                  (std::pair<std::string, std::string>{}))
            << nothing;
    EXPECT_EQ(read(std::string(200, 'a'), "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
              (std::pair<std::string, std::string>{}));
}

TEST_F(LinuxHostTest, ItsOwnAddressesAreNotThoseOfContainersBridges) {
    tree.write("sys/class/net/eth0/device/vendor", "0x15b3\n");
    tree.write("sys/class/net/bond0/lower_eth0/address", "");
    tree.write("sys/class/net/br0/bridge/bridge_id", "");
    tree.write("sys/class/net/br0/lower_bond0/address", "");
    tree.write("sys/class/net/docker0/bridge/bridge_id", "");
    tree.write("sys/class/net/docker0/lower_veth1/address", "");
    tree.write("sys/class/net/veth1/address", "");
    tree.write("sys/class/net/wg0/address", "");
    const std::vector<InterfaceAddress> all = {{"br0", "192.0.2.7"}, {"docker0", "172.17.0.1"},
                                               {"wg0", "10.1.0.7"},  {"br0", "2001:db8::7"},
                                               {"wg0", "192.0.2.7"}, {"eth0", "192.0.2.8"}};
    EXPECT_THAT(own_addresses(settings.roots, all),
                ::testing::ElementsAre("192.0.2.7", "10.1.0.7", "2001:db8::7", "192.0.2.8"));
    std::vector<InterfaceAddress> many;
    for (int i = 0; i < 40; ++i) many.push_back({"eth0", "192.0.2." + std::to_string(i)});
    EXPECT_EQ(own_addresses(settings.roots, many).size(), own_addresses_max);
    for (const InterfaceAddress& one : interface_addresses())
        EXPECT_FALSE(one.interface == "lo" || one.address.starts_with("127.") ||
                     one.address.starts_with("fe80:"))
            << one.interface << " " << one.address;
}

TEST_F(LinuxHostTest, AnEmptyTreeIsNoFailure) {
    settings.disk = "/nowhere/at/all";
    LinuxHost host{loop, timers, settings};
    const auto facts = run(host.facts());
    EXPECT_EQ(facts.cpus, 0);
    EXPECT_EQ(facts.problems.size(), 1u);
    EXPECT_EQ(run(host.sample()), HostSample{});
}

TEST_F(LinuxHostTest, SamplesAndTheirDifferences) {
    tree.write("proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\n");
    tree.write("proc/loadavg", "1.25 0.50 0.10 1/100 4711\n");
    tree.write("proc/meminfo",
               "MemTotal: 1000 kB\nMemAvailable: 600 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n");
    tree.write("proc/uptime", "3600.25 7000.00\n");
    tree.write("proc/net/dev",
               "Inter-|   Receive                    |  Transmit\n"
               " face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n"
               "    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n"
               "  eth0: 1000 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n"
               "  ib0:  10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n");
    LinuxHost host{loop, timers, settings};
    const auto first = run(host.sample());
    EXPECT_EQ(first.cpu_busy_percent, std::nullopt) << "nothing to compare with";
    EXPECT_EQ(first.load_milli, 1250);
    EXPECT_EQ(first.memory_available_bytes, 600 * 1024);
    EXPECT_EQ(first.swap_used_bytes, 30 * 1024);
    EXPECT_EQ(first.network_received_bytes, 1010);
    EXPECT_EQ(first.network_sent_bytes, 220);
    EXPECT_EQ(first.uptime_seconds, 3600);
    EXPECT_GT(first.disk_total_bytes, 0);
    tree.write("proc/stat", "cpu  125 0 150 875 150 0 0 0 0 0\n");
    EXPECT_EQ(run(host.sample()).cpu_busy_percent, 25) << "75 of 300 ticks; waiting for the disk is not work";
}

TEST_F(LinuxHostTest, DisksAreCountedOnce) {
    tree.write("proc/diskstats",
               "   8       0 sda 10 0 100 5 20 0 200 6 0 7 11 0 0 0 0 0 0\n"
               "   8       1 sda1 10 0 100 5 20 0 200 6 0 7 11\n"
               " 259       0 nvme0n1 1 0 8 1 1 0 16 1 0 3 2 0 0 0 0\n"
               " 259       1 nvme0n1p1 1 0 8 1 1 0 16 1 0 3 2\n"
               " 253       0 dm-0 10 0 100 5 20 0 200 6 0 7 11\n"
               "   7       0 loop0 1 0 1 1 1 0 1 1 0 1 1\n"
               "   8      16 sdb 1 2\n");
    LinuxHost host{loop, timers, settings};
    const auto sample = run(host.sample());
    EXPECT_EQ(sample.disk_read_bytes, 108 * 512);
    EXPECT_EQ(sample.disk_written_bytes, 216 * 512);
    EXPECT_EQ(sample.disk_busy_ms, 10);
}

TEST_F(LinuxHostTest, NetworkErrorsAndRdmaPorts) {
    tree.write("proc/net/dev",
               "  eth0: 1000 1 2 3 0 0 0 0 200 1 4 5 0 0 0 0\n  lo: 1 1 9 9 0 0 0 0 1 1 9 9 0 0 0 0\n");
    for (const std::string port : {"mlx5_0/ports/1", "mlx5_1/ports/1"}) {
        const std::string folder = "sys/class/infiniband/" + port + "/counters/";
        tree.write(folder + "port_xmit_data", "1000\n");
        tree.write(folder + "port_rcv_data", "2000\n");
        tree.write(folder + "symbol_error", "3\n");
        tree.write(folder + "link_downed", "1\n");
    }
    LinuxHost host{loop, timers, settings};
    const auto sample = run(host.sample());
    EXPECT_EQ(sample.network_errors, 14);
    EXPECT_EQ(sample.rdma_sent_bytes, 8000) << "words of four bytes, two ports";
    EXPECT_EQ(sample.rdma_received_bytes, 16000);
    EXPECT_EQ(sample.rdma_errors, 8);
}

TEST_F(LinuxHostTest, ContainersOfProcesses) {
    const std::string id(64, 'a'), inner(64, 'b');
    tree.write("proc/10/cgroup", "0::/system.slice/docker-" + id + ".scope\n");
    tree.write("proc/11/cgroup", "12:memory:/docker/" + id + "\n3:cpu:/docker/" + id + "\n");
    tree.write("proc/12/cgroup", "0::/machine.slice/libpod-" + id + ".scope/container\n");
    tree.write("proc/13/cgroup", "0::/docker/" + id + "/docker/" + inner + "\n");
    tree.write("proc/14/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
    tree.write("proc/15/cgroup", "0::/x-" + id + "abc\n");
    LinuxHost host{loop, timers, settings};
    const auto found = run(host.containers_of({10, 11, 12, 13, 14, 15, 16}));
    EXPECT_EQ(found, (std::map<std::int64_t, std::string>{{10, id}, {11, id}, {12, id}, {13, inner}}));
}

TEST_F(LinuxHostTest, ProcessesOfContainers) {
    const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
    const auto write = [&](const std::string& folder, const std::string& now, const std::string& max) {
        tree.write("groups/" + folder + "/pids.current", now + "\n");
        tree.write("groups/" + folder + "/pids.max", max + "\n");
    };
    write("machine.slice/libpod-" + a + ".scope", "7", "64");
    write("machine.slice/libpod-conmon-" + a + ".scope", "2", "9");
    write("machine.slice/libpod-" + b + ".scope", "3", "max");
    write("machine.slice/libpod-" + b + ".scope/container", "3", "4096");
    write("system.slice/docker-" + c + ".scope", "5", "max");
    settings.cgroups = tree.path("groups");
    LinuxHost host{loop, timers, settings};
    EXPECT_EQ(run(host.processes_of({a, b, c, std::string(64, 'd')})),
              (std::map<std::string, ProcessUse>{{a, {7, 64}}, {b, {3, 4096}}}))
        << "one has no limit, one is not there";
    // In the hierarchy of version 1; those that were known have gone.
    write("pids/libpod_parent/libpod-" + a, "64", "64");
    tree.remove("groups/machine.slice");
    EXPECT_EQ(run(host.processes_of({a, b})), (std::map<std::string, ProcessUse>{{a, {64, 64}}}));
}

TEST_F(LinuxHostTest, ThisMachine) {
    LinuxHost host{loop, timers, {}};
    const auto facts = run(host.facts());
    EXPECT_FALSE(facts.hostname.empty());
    EXPECT_FALSE(facts.boot_id.empty());
    EXPECT_GT(facts.cpus, 0);
    EXPECT_GT(facts.memory_bytes, 0);
}

}  // namespace
}  // namespace hostler

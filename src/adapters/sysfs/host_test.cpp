#include "adapters/sysfs/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

#include "adapters/sysfs/kernel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/testing/file_tree.h"
#include "core/testing/run.h"

namespace hostler {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(KernelLog, LinesOfFaults) {
    const auto xid = fault_of_line(
        "NVRM: Xid (PCI:0000:9A:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.");
    ASSERT_TRUE(xid);
    EXPECT_EQ(xid->kind, "xid");
    EXPECT_EQ(xid->code, 79);
    EXPECT_EQ(xid->pci_address, "0000:9a:00.0");
    const auto nvlink = fault_of_line(
        "NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 07 (0x004505c6 0x00000002 0x0 "
        "0x0)");
    ASSERT_TRUE(nvlink);
    EXPECT_EQ(nvlink->info, 0x004505c6);
    EXPECT_EQ(nvlink->status, 2);
    const auto lost = fault_of_line("NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.");
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->kind + lost->pci_address, "lost0000:3b:00.0");
    const auto fatal =
        fault_of_line("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 22003, Fatal, Link 32 Minion Halt");
    ASSERT_TRUE(fatal);
    EXPECT_EQ(fatal->kind, "sxid");
    EXPECT_EQ(fatal->code, 22003);
    EXPECT_EQ(fatal->status, 1);
    EXPECT_EQ(fatal->pci_address, "") << "a switch is no GPU";
    EXPECT_EQ(fault_of_line("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 32")->status,
              0);
}

TEST(KernelLog, OtherLinesAreNone) {
    for (const char* line :
         {"", "6,1,2,-;usb 1-1: new device", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module",
          "Xid (PCI:0000:9a:00): 79", "NVRM: Xid (PCI:0000:9a:00", "NVRM: Xid (PCI:zz): 79, x",
          "NVRM: Xid (PCI:0000:9a:00): nonsense", "NVRM: Xid (PCI:0000:9a:00): 99999999999999999999, x",
          "SXid (PCI:0000:c1:00.0): ", "NVRM: GPU here: GPU has fallen off the bus",
          "python3[71]: segfault at 0 ip 0 sp 0 error 4 in NVRM: Xid (PCI:0000:9a:00): 79, x[400000+1000]",
          "nvidia-nvswitch[71]: segfault at 0 ip 0 sp 0 error 4 in SXid (PCI:0000:c1:00.0): 22003, Fatal",
          "NVRM: GPU 0000:[71]: segfault at 0 ip 0 sp 0 error 4 in GPU has fallen off the bus"})
        EXPECT_FALSE(fault_of_line(line)) << line;
}

TEST(KernelLog, TellsWhatIsLoggedFromNowOnOnce) {
    testing::FileTree tree;
    tree.write("dev/kmsg", "4,1,1,-;NVRM: Xid (PCI:0000:9a:00): 48, old\n");
    KernelRoots roots;
    roots.dev = tree.path("dev");
    KernelLog log{roots};
    EXPECT_THAT(log.take_faults(), IsEmpty()) << "from before the agent was there";
    std::ofstream{tree.path("dev/kmsg"), std::ios::app}
        << "4,2,2,-;NVRM: Xid (PCI:0000:9a:00): 31, new\n6,3,3,-;else\n"
        << "12,4,4,-;NVRM: Xid (PCI:0000:9a:00): 48, a program wrote it\n"
        << "6,5,5,-;init: began\n DEVICE=;NVRM: Xid (PCI:0000:9a:00): 48, x\n";
    const auto faults = log.take_faults();
    ASSERT_THAT(faults, SizeIs(1));
    EXPECT_EQ(faults[0].code, 31);
    EXPECT_THAT(log.take_faults(), IsEmpty());
}

TEST(KernelLog, OneThatMayNotBeReadIsNone) {
    KernelRoots roots;
    roots.dev = "/nowhere";
    KernelLog log{roots};
    EXPECT_THAT(log.take_faults(), IsEmpty());
}

}  // namespace
}  // namespace hostler

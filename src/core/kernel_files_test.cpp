#include "core/kernel_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/file_tree.h"

namespace hostler {
namespace {

using ::testing::ElementsAre;

TEST(KernelFiles, TextIsTrimmedAndBounded) {
    testing::FileTree tree;
    tree.write("a", "  two words \n\n");
    tree.write("big", std::string(100, 'x'));
    EXPECT_EQ(read_text(tree.path("a")), "  two words");
    EXPECT_EQ(read_text(tree.path("big"), 100), std::string(100, 'x'));
    EXPECT_EQ(read_text(tree.path("big"), 99), std::nullopt);
    EXPECT_EQ(read_text(tree.path("none")), std::nullopt);
    EXPECT_EQ(read_text(tree.path()), std::nullopt) << "a folder";
}

TEST(KernelFiles, Numbers) {
    EXPECT_EQ(parse_number("42\n"), 42);
    EXPECT_EQ(parse_number("-1"), -1);
    EXPECT_EQ(parse_number("0x1002"), 0x1002);
    EXPECT_EQ(parse_number("17 C"), 17);
    EXPECT_EQ(parse_number("0x"), std::nullopt);
    EXPECT_EQ(parse_number(""), std::nullopt);
    EXPECT_EQ(parse_number("N/A"), std::nullopt);
    EXPECT_EQ(parse_number("99999999999999999999"), std::nullopt);
}

TEST(KernelFiles, FoldersInPeoplesOrder) {
    testing::FileTree tree;
    for (const auto* name : {"card10", "card2", "card2-DP-1", "a", "card1"}) tree.write(name, "");
    EXPECT_THAT(list_folder(tree.path()), ElementsAre("a", "card1", "card2", "card2-DP-1", "card10"));
    EXPECT_THAT(list_folder(tree.path("none")), ElementsAre());
}

TEST(KernelFiles, Links) {
    testing::FileTree tree;
    tree.write("drivers/amdgpu/x", "");
    tree.link("device/driver", "drivers/amdgpu");
    EXPECT_EQ(link_name(tree.path("device/driver")), "amdgpu");
    EXPECT_EQ(link_name(tree.path("drivers")), "");
    EXPECT_EQ(real_path(tree.path("device/driver/x")), real_path(tree.path()) + "/drivers/amdgpu/x");
    EXPECT_EQ(real_path(tree.path("device/none")), "");
}

TEST(KernelFiles, LinesWithAKey) {
    const char* text =
        "MemTotal:       24682416 kB\nMemTotalX: 1\nPRETTY_NAME=\"Debian 12\"\nsimd_count 1216\nempty:\n";
    EXPECT_EQ(value_of_line(text, "MemTotal"), "24682416 kB");
    EXPECT_EQ(value_of_line(text, "PRETTY_NAME"), "Debian 12");
    EXPECT_EQ(value_of_line(text, "simd_count"), "1216");
    EXPECT_EQ(value_of_line(text, "empty"), "");
    EXPECT_EQ(value_of_line(text, "Mem"), std::nullopt);
}

TEST(KernelFiles, PcieGenerations) {
    EXPECT_EQ(pcie_generation("2.5 GT/s PCIe"), 1);
    EXPECT_EQ(pcie_generation("8.0 GT/s PCIe"), 3);
    EXPECT_EQ(pcie_generation("16 GT/s"), 4);
    EXPECT_EQ(pcie_generation("32.0 GT/s PCIe"), 5);
    EXPECT_EQ(pcie_generation("Unknown"), 0);
    EXPECT_EQ(pcie_generation(""), 0);
}

}  // namespace
}  // namespace hostler

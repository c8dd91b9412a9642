#include "domain/inventory/model.h"

#include <gtest/gtest.h>

#include <set>

namespace hostler {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

TEST(GpuModel, ProductNameDecides) {
    EXPECT_EQ(gpu_model_name("NVIDIA H100 80GB HBM3", "", 0), "H100 SXM5 80GB");
    EXPECT_EQ(gpu_model_name("NVIDIA H100 PCIe", "10de:2331", 0), "H100 PCIe 80GB");
    EXPECT_EQ(gpu_model_name("NVIDIA H200", "10de:2335", 0), "H200 SXM 141GB");
    EXPECT_EQ(gpu_model_name("NVIDIA A16", "10de:25b6", 0), "A16 16GB") << "A2 and A16 share a PCI id";
}

TEST(GpuModel, PciIdWhereTheNameIsUnknown) {
    EXPECT_EQ(gpu_model_name("", "10de:1e07", 11 * gib), "GeForce RTX 2080 Ti 11GB");
    EXPECT_EQ(gpu_model_name("NVIDIA GB10", "", 0), "GB10 128GB");
    EXPECT_EQ(gpu_model_name("Graphics Device", "10de:2330", 80 * gib - gib), "H100 SXM5 80GB");
    // A known id on a board with other memory is another product.
    EXPECT_EQ(gpu_model_name("Graphics Device", "10de:2330", 40 * gib), "Graphics Device 40GB");
}

TEST(GpuModel, UnknownDevicesKeepTheirWords) {
    EXPECT_EQ(gpu_model_name("NVIDIA Foo 9", "10de:ffff", 24 * gib), "Foo 9 24GB");
    EXPECT_EQ(gpu_model_name("NVIDIA Foo 9 24GB", "10de:ffff", 24 * gib), "Foo 9 24GB");
    EXPECT_EQ(gpu_model_name("", "1234:5678", 0), "GPU 1234:5678");
}

TEST(GpuModel, PeopleNameThemLoosely) {
    ASSERT_NE(find_gpu_model("h100-sxm5_80gb"), nullptr);
    EXPECT_EQ(find_gpu_model("h100-sxm5_80gb")->pci_ids, "10de:2330");
    ASSERT_NE(find_gpu_model("A100"), nullptr);
    EXPECT_EQ(find_gpu_model("A100")->name, "A100 SXM4 80GB");
    EXPECT_EQ(find_gpu_model("NVIDIA L40S")->name, "L40S 48GB");
    EXPECT_EQ(find_gpu_model("voodoo"), nullptr);
    EXPECT_EQ(find_gpu_model(""), nullptr);
    EXPECT_EQ(find_gpu_model("--"), nullptr);
}

TEST(GpuModel, EveryRowIsFoundByWhatItSays) {
    std::set<std::string_view> names;
    for (const GpuModel& row : gpu_models()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(find_gpu_model(row.name), &row) << row.name;
        EXPECT_EQ(recognise_gpu(row.product, "", 0), &row) << row.name;
        const auto id = row.pci_ids.substr(0, row.pci_ids.find(' '));
        if (!id.empty()) EXPECT_EQ(recognise_gpu("", id, row.memory_gib * gib), &row) << row.name;
    }
}

}  // namespace
}  // namespace hostler

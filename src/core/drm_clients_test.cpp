#include "core/drm_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/file_tree.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t mib = 1 << 20;

// As Linux 6.8 shows a descriptor of amdgpu's.
constexpr std::string_view amdgpu =
    "pos:\t0\n"
    "flags:\t02100002\n"
    "mnt_id:\t25\n"
    "ino:\t412\n"
    "drm-driver:\tamdgpu\n"
    "drm-client-id:\t9\n"
    "drm-pdev:\t0000:05:00.0\n"
    "pasid:\t32771\n"
    "drm-total-vram:\t4096 KiB\n"
    "drm-shared-vram:\t0\n"
    "drm-memory-vram:\t3072 KiB\n"
    "drm-memory-gtt: \t512 KiB\n"
    "drm-memory-cpu: \t0 KiB\n"
    "amd-evicted-vram:\t0 KiB\n"
    "drm-engine-gfx:\t7000000000 ns\n"
    "drm-engine-compute:\t250000000 ns\n";

class DrmClientsTest : public ::testing::Test {
protected:
    struct Told {
        std::string address = "0000:05:00.0";
        int client = 1;
        std::int64_t gfx_ns = 0;
        std::int64_t vram_kib = 0;
    };
    void open(int pid, int fd, const Told& told, const std::string& node = "renderD128") {
        tree.remove(fmt::format("proc/{}/fd/{}", pid, fd));
        tree.link(fmt::format("proc/{}/fd/{}", pid, fd), "dev/dri/" + node);
        tree.write(fmt::format("proc/{}/fdinfo/{}", pid, fd),
                   fmt::format("pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t{}\ndrm-pdev:\t{}\n"
                               "drm-resident-vram:\t{} KiB\ndrm-engine-gfx:\t{} ns\n",
                               told.client, told.address, told.vram_kib, told.gfx_ns));
    }
    std::vector<DrmUse> look(Duration later) {
        now += later;
        return clients.look(now);
    }
    testing::FileTree tree;
    DrmClients clients{tree.path("proc")};
    Instant now{1h};
};

TEST(DrmClient, IsReadAsAmdgpuWritesIt) {
    const auto client = parse_drm_client(amdgpu);
    ASSERT_TRUE(client);
    EXPECT_EQ(client->pci_address, "0000:05:00.0");
    EXPECT_EQ(client->id, "9");
    EXPECT_EQ(client->memory_bytes, 3 * mib) << "what is there, not what was asked for; not the machine's";
    EXPECT_EQ(client->engines.at("gfx").busy, 7'000'000'000);
    EXPECT_EQ(client->engines.at("compute").busy, 250'000'000);
}

TEST(DrmClient, IsReadAsXeAndI915WriteIt) {
    const auto xe = parse_drm_client(
        "drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\ndrm-total-vram0:\t64 MiB\n"
        "drm-resident-vram0:\t48 MiB\ndrm-resident-gtt:\t7 MiB\ndrm-cycles-ccs:\t120\n"
        "drm-total-cycles-ccs:\t1000\ndrm-engine-capacity-ccs:\t4\n");
    ASSERT_TRUE(xe);
    EXPECT_EQ(xe->memory_bytes, 48 * mib);
    EXPECT_EQ(xe->engines.at("ccs"), (DrmClient::Engine{.busy = 120, .total = 1000, .capacity = 4}));
    const auto i915 = parse_drm_client(
        "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:04:00.0\ndrm-total-local0:\t10 MiB\n"
        "drm-total-system0:\t90 MiB\ndrm-engine-render:\t5 ns\ndrm-engine-capacity-video:\t2\n"
        "drm-engine-video:\t9 ns\n");
    ASSERT_TRUE(i915);
    EXPECT_EQ(i915->memory_bytes, 10 * mib);
    EXPECT_EQ(i915->engines.at("video").capacity, 2);
    const auto without = parse_drm_client(
        "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
        "drm-total-system0:\t90 MiB\n");
    ASSERT_TRUE(without);
    EXPECT_EQ(without->memory_bytes, std::nullopt) << "it has no memory of its own";
}

TEST(DrmClient, OtherFilesAreNone) {
    for (const std::string_view text :
         {"", "pos:\t0\nflags:\t02\n", "drm-driver:\tamdgpu\n", "drm-client-id:\t1\n", "drm-pdev\n:\n"})
        EXPECT_FALSE(parse_drm_client(text)) << text;
    const auto odd = parse_drm_client(
        "drm-pdev: a\ndrm-client-id: 1\ndrm-engine-gfx: many ns\n"
        "drm-memory-vram: -5 KiB\ndrm-engine-capacity-gfx: 0\n");
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->memory_bytes, 0);
    EXPECT_EQ(odd->engines.at("gfx").capacity, 1);
}

TEST_F(DrmClientsTest, AProcessCostsWhatItsDescriptorsDo) {
    open(812, 5, {.client = 1, .gfx_ns = 1'000'000'000, .vram_kib = 1024});
    open(812, 6, {.client = 2, .gfx_ns = 0, .vram_kib = 2048});
    open(812, 7, {.client = 1, .gfx_ns = 1'000'000'000, .vram_kib = 1024}, "card0");  // A copy.
    open(99, 3, {.address = "0000:26:00.0", .client = 1, .gfx_ns = 5, .vram_kib = 512});
    tree.link("proc/99/fd/4", "dev/null");
    tree.write("proc/99/fdinfo/4", amdgpu);
    EXPECT_THAT(look(0s), ElementsAre(DrmUse{"0000:05:00.0", 812, 3 * mib, std::nullopt},
                                      DrmUse{"0000:26:00.0", 99, mib / 2, std::nullopt}))
        << "one reading of a counter is no rate";
    open(812, 5, {.client = 1, .gfx_ns = 1'500'000'000, .vram_kib = 1024});
    open(812, 6, {.client = 2, .gfx_ns = 200'000'000, .vram_kib = 2048});
    EXPECT_THAT(look(2s), ElementsAre(DrmUse{"0000:05:00.0", 812, 3 * mib, 35},
                                      DrmUse{"0000:26:00.0", 99, mib / 2, 0}));
    open(812, 5, {.client = 1, .gfx_ns = 900'000'000, .vram_kib = 1024});  // It goes back.
    open(812, 6, {.client = 2, .gfx_ns = 9'000'000'000, .vram_kib = 2048});
    EXPECT_EQ(look(2s)[0].utilisation_percent, 100);
}

TEST_F(DrmClientsTest, CyclesAreAShareOfTheEnginesOwn) {
    const auto told = [&](int cycles, int total) {
        tree.write("proc/7/fdinfo/3",
                   fmt::format("drm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-cycles-ccs:\t{}\n"
                               "drm-total-cycles-ccs:\t{}\ndrm-engine-capacity-ccs:\t2\n",
                               cycles, total));
    };
    tree.link("proc/7/fd/3", "dev/dri/renderD128");
    told(0, 0);
    EXPECT_THAT(look(0s), IsEmpty()) << "it holds nothing and does nothing";
    told(500, 1000);
    EXPECT_THAT(look(1s), ElementsAre(DrmUse{"0000:03:00.0", 7, std::nullopt, 25}));
}

TEST_F(DrmClientsTest, WhoComesAndGoesIsSeen) {
    open(5, 3, {.client = 1, .vram_kib = 1024});
    EXPECT_EQ(look(0s).size(), 1u);
    open(6, 3, {.client = 2, .vram_kib = 1024});
    EXPECT_EQ(look(1s).size(), 1u) << "not every look goes through all";
    EXPECT_EQ(look(DrmClients::search_every).size(), 2u);
    tree.remove("proc/5");
    EXPECT_EQ(look(1s).size(), 1u) << "who has ended is gone at once";
    DrmClients nowhere{tree.path("none")};
    EXPECT_THAT(nowhere.look(now), IsEmpty());
}

}  // namespace
}  // namespace hostler

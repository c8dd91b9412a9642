#include "adapters/amd/gpu_metrics.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hostler::amd {
namespace {

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::string blank(std::uint16_t size, std::uint8_t revision, std::uint8_t format = 1) {
    std::string bytes(size, '\xff');
    put(bytes, 0, size);
    put(bytes, 2, format);
    put(bytes, 3, revision);
    return bytes;
}

TEST(AmdGpuMetrics, DiscreteCards) {
    auto bytes = blank(120, 3);
    put<std::uint16_t>(bytes, 6, 71);
    put<std::uint16_t>(bytes, 16, 99);
    put<std::uint16_t>(bytes, 22, 310);
    put<std::uint64_t>(bytes, 24, 65536);
    put<std::uint16_t>(bytes, 54, 2100);
    put<std::uint16_t>(bytes, 74, 16);
    put<std::uint16_t>(bytes, 76, 160);
    const auto metrics = parse_gpu_metrics(bytes).value();
    EXPECT_EQ(metrics.hotspot_celsius, 71);
    EXPECT_EQ(metrics.memory_celsius, std::nullopt) << "all bits set";
    EXPECT_EQ(metrics.gfx_percent, 99);
    EXPECT_EQ(metrics.power_w, 310);
    EXPECT_EQ(metrics.energy_uj, 1'000'013) << "65536 steps are one joule, nearly";
    EXPECT_EQ(metrics.gfx_mhz, 2100);
    EXPECT_EQ(metrics.pcie_width, 16);
    EXPECT_EQ(metrics.pcie_generation, 4);
    EXPECT_EQ(metrics.pcie_replays, std::nullopt) << "this layout has none";
}

TEST(AmdGpuMetrics, Instinct) {
    struct Row {
        std::uint8_t revision;
        std::uint16_t size;
        std::size_t energy, replays, clock;
    };
    for (const Row& row : {Row{4, 288, 24, 88, 240}, Row{5, 360, 88, 152, 312}, Row{6, 1664, 16, 104, 264},
                           Row{7, 2208, 24, 112, 296}, Row{8, 3872, 24, 112, 296}}) {
        auto bytes = blank(row.size, row.revision);
        put<std::uint16_t>(bytes, 4, 55);
        put<std::uint16_t>(bytes, 10, 700);
        put<std::uint64_t>(bytes, row.energy, 2 * 65536);
        put<std::uint64_t>(bytes, row.replays, 3);
        put<std::uint16_t>(bytes, row.clock, 1900);
        const auto metrics = parse_gpu_metrics(bytes).value();
        EXPECT_EQ(metrics.hotspot_celsius, 55) << int{row.revision};
        EXPECT_EQ(metrics.power_w, 700) << int{row.revision};
        EXPECT_EQ(metrics.energy_uj, 2'000'027) << int{row.revision};
        EXPECT_EQ(metrics.pcie_replays, 3) << int{row.revision};
        EXPECT_EQ(metrics.gfx_mhz, 1900) << int{row.revision};
        bytes.resize(row.size - 1);
        EXPECT_FALSE(parse_gpu_metrics(bytes)) << int{row.revision};
    }
}

void add(std::string& bytes, std::uint64_t type, std::uint64_t id, std::uint64_t count,
         std::string_view values) {
    const std::uint64_t word = type << 20 | id << 10 | count;
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
    bytes += values;
}

TEST(AmdGpuMetrics, AnEnergyThatCannotBeIsNone) {
    auto bytes = blank(288, 4);
    for (const std::uint64_t steps : {std::uint64_t{1} << 61, std::uint64_t{1} << 63}) {
        put<std::uint64_t>(bytes, 24, steps);
        EXPECT_EQ(parse_gpu_metrics(bytes).value().energy_uj, std::nullopt) << steps;
    }
}

TEST(AmdGpuMetrics, TheStreamThatDescribesItself) {
    std::string bytes(8, '\0');
    add(bytes, 2, 0, 1, std::string_view{"\x37\x00", 2});
    add(bytes, 6, 999, 2, std::string(16, 'x'));  // Of a newer kernel: skipped.
    add(bytes, 2, 33, 4, std::string_view{"\x6c\x07\0\0\0\0\0\0", 8});
    add(bytes, 4, 3, 1, std::string(4, '\xff'));
    put<std::int32_t>(bytes, 4, 4);
    put<std::uint16_t>(bytes, 0, static_cast<std::uint16_t>(bytes.size()));
    put<std::uint8_t>(bytes, 2, 1);
    put<std::uint8_t>(bytes, 3, 9);
    const auto metrics = parse_gpu_metrics(bytes).value();
    EXPECT_EQ(metrics.hotspot_celsius, 55);
    EXPECT_EQ(metrics.gfx_mhz, 1900);
    EXPECT_EQ(metrics.power_w, std::nullopt);
    for (std::size_t cut = 4; cut < bytes.size(); ++cut) {
        auto part = bytes.substr(0, cut);
        put<std::uint16_t>(part, 0, static_cast<std::uint16_t>(cut));
        EXPECT_FALSE(parse_gpu_metrics(part)) << cut;
    }
}

TEST(AmdGpuMetrics, RefusesWhatItDoesNotKnow) {
    EXPECT_FALSE(parse_gpu_metrics(""));
    EXPECT_FALSE(parse_gpu_metrics("abc"));
    EXPECT_FALSE(parse_gpu_metrics(blank(128, 2, 2))) << "an APU";
    EXPECT_FALSE(parse_gpu_metrics(blank(120, 17)));
    EXPECT_FALSE(parse_gpu_metrics(blank(96, 3))) << "too short for its layout";
    EXPECT_EQ(parse_gpu_metrics(blank(96, 1)), GpuMetrics{}) << "nothing available is no error";
}

}  // namespace
}  // namespace hostler::amd

#include "domain/inventory/metrics.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Metrics, PackedAndUnpackedIsTheSame) {
    GpuSample sample;
    sample.utilisation_percent = 97;
    sample.memory_used_bytes = 81'604'378'624;
    sample.recovery_action = 2;
    const auto values = pack_metrics(sample);
    ASSERT_EQ(values.size(), metric_names<GpuSample>().size());
    GpuSample back;
    back.temperature_celsius = 1;  // What was not measured is cleared, not left.
    unpack_metrics(values, back);
    EXPECT_EQ(back, sample);
}

TEST(Metrics, NamesAreInTheOrderOfTheStruct) {
    const auto names = metric_names<HostSample>();
    EXPECT_EQ(names.front(), "cpu_busy_percent");
    EXPECT_EQ(names.back(), "rdma_errors");
    EXPECT_EQ(metric_names<GpuSample>().front(), "utilisation_percent");
    EXPECT_EQ(metric_names<GpuSample>().back(), "memory_active_ppm") << "those of a base come last";
    EXPECT_EQ(metric_names<GpuSample>()[46], "nvlink_errors") << "as 0.1 had it, whose hellos name no order";
}

TEST(Metrics, APeersOwnOrderIsFollowed) {
    const std::vector<std::string> told{"power_mw", "of_a_later_release", "utilisation_percent"};
    const MetricOrder order = metric_order<GpuSample>(told);
    GpuSample sample;
    sample.temperature_celsius = 1;
    unpack_metrics(std::vector<double>{700'000, 12, 97, 4}, order, sample);
    GpuSample expected;
    expected.power_mw = 700'000;
    expected.utilisation_percent = 97;
    EXPECT_EQ(sample, expected) << "values beyond the order are nobody's";
    unpack_metrics(std::vector<double>{55}, MetricOrder{}, sample);
    EXPECT_EQ(sample.utilisation_percent, 55) << "who names no order has ours";
    EXPECT_EQ(metric_order<GpuSample>(std::vector<std::string>(5000, "x")).places.size(),
              MetricOrder::names_max);
}

TEST(Metrics, AHostilePeersNumbersDoNoHarm) {
    const std::vector<double> values{1e300, std::numeric_limits<double>::infinity(), -5, 7};
    HostSample sample;
    unpack_metrics(values, sample);
    EXPECT_EQ(sample.cpu_busy_percent, std::nullopt);
    EXPECT_EQ(sample.load_milli, std::nullopt);
    EXPECT_EQ(sample.memory_total_bytes, -5);
    EXPECT_EQ(sample.memory_available_bytes, 7);
    EXPECT_EQ(sample.uptime_seconds, std::nullopt);
}

}  // namespace
}  // namespace hostler

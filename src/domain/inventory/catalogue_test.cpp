#include "domain/inventory/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "domain/inventory/metrics.h"

namespace hostler {

namespace {

TEST(Catalogue, HasEachMetricOnceInTheOrderOfTheSamples) {
    EXPECT_EQ(metrics_of(Measured::gpu).size(), metric_names<GpuSample>().size());
    EXPECT_EQ(metrics_of(Measured::host).size(), metric_names<HostSample>().size());
    std::set<std::string> names;
    for (const Measured of : all_measured) {
        ASSERT_EQ(columns_of(of).size(), metrics_of(of).size());
        for (std::size_t i = 0; i < metrics_of(of).size(); ++i) {
            EXPECT_TRUE(names.insert(metrics_of(of)[i].name).second) << metrics_of(of)[i].name;
            EXPECT_EQ(columns_of(of)[i].name, metrics_of(of)[i].name);
            EXPECT_EQ(columns_of(of)[i].kind, metrics_of(of)[i].kind);
        }
    }
    EXPECT_EQ(metrics_of(Measured::host)[0].name, "host_cpu_busy_percent");
    EXPECT_EQ(metric_names<HostSample>()[0], "cpu_busy_percent");
    EXPECT_EQ(metrics_of(Measured::volume)[0].name, "volume_used_bytes");
    EXPECT_EQ(metrics_of(Measured::layer)[2].name, "layer_used_inodes");
}

TEST(Catalogue, AMetricIsFoundWithoutItsUnit) {
    ASSERT_NE(find_metric("gpu_power"), nullptr);
    EXPECT_EQ(find_metric("gpu_power")->name, "gpu_power_mw");
    EXPECT_EQ(find_metric("gpu_power_mw")->unit, "mW");
    EXPECT_EQ(find_metric("gpu_utilization")->name, "gpu_utilization_percent");
    EXPECT_EQ(find_metric("gpu_energy_mj")->kind, series::Kind::counter);
    EXPECT_EQ(find_metric("host_uptime")->unit, "s");
    EXPECT_EQ(find_metric("volume_used")->name, "volume_used_bytes");
    EXPECT_EQ(find_metric("layer_used_inodes")->of, Measured::layer);
    ASSERT_NE(find_metric("instance_cpu"), nullptr);
    EXPECT_EQ(find_metric("instance_cpu")->name, "instance_cpu_ms");
    EXPECT_EQ(find_metric("instance_cpu")->kind, series::Kind::counter);
    EXPECT_EQ(find_metric("instance_memory")->unit, "B");
    EXPECT_EQ(find_metric("instance_network_sent")->of, Measured::instance);
    EXPECT_EQ(find_metric("power"), nullptr);
    EXPECT_EQ(find_metric(""), nullptr);
}

// Two that are the same but for their units would make the short name mean either.
TEST(Catalogue, NoTwoAreTheSameWithoutTheirUnits) {
    for (const Measured of : all_measured)
        for (const MetricFacts& metric : metrics_of(of)) {
            int found = 0;
            const auto at = metric.name.rfind('_');
            for (const MetricFacts& other : metrics_of(of))
                found += !metric.unit.empty() && other.unit != metric.unit && !other.unit.empty() &&
                         other.name.substr(0, other.name.rfind('_')) == metric.name.substr(0, at);
            EXPECT_EQ(found, 0) << metric.name;
        }
}

}  // namespace

}  // namespace hostler

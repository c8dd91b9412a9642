#include "domain/report/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::report {

namespace {

using enum Figure;
using Situation = std::map<Figure, double>;

Figures figures_of(const Situation& situation) {
    Figures figures;
    for (const auto& [figure, value] : situation) figures[figure] = static_cast<float>(value);
    complete(figures);
    return figures;
}

std::optional<Verdict> verdict(const Situation& situation) {
    const Rule* rule = judge(figures_of(situation));
    return rule ? std::optional{rule->verdict} : std::nullopt;
}

const Situation at_rest{{utilization, 0}, {sm_active, 0}, {memory_used, 60}, {memory_total, 80}, {power, 70}};
const Situation too_hot{{utilization, 98}, {sm_active, 90}, {thermal_throttled, 30}, {temperature, 88}};
const Situation at_its_limit{{utilization, 99}, {sm_active, 92}, {power, 349}, {power_limit, 350}};
const Situation copying{{utilization, 60},       {sm_active, 20},      {pcie_sent, 500},
                        {pcie_received, 25'000}, {pcie_generation, 4}, {pcie_width, 16}};
const Situation streaming{{utilization, 97}, {sm_active, 95}, {tensor_active, 8}, {memory_active, 75}};
const Situation multiplying{{utilization, 99}, {sm_active, 93}, {tensor_active, 71}, {memory_active, 35}};
const Situation starving{{utilization, 22}, {sm_active, 10}, {host_cpu, 97}, {host_disk, 12}};

Situation with(Situation situation, Figure figure, double value) {
    situation[figure] = value;
    return situation;
}
Situation without(Situation situation, Figure figure) {
    situation.erase(figure);
    return situation;
}

TEST(Rules, EachSituationHasItsVerdict) {
    EXPECT_EQ(verdict(at_rest), Verdict::idle);
    EXPECT_EQ(verdict(too_hot), Verdict::thermal_bound);
    EXPECT_EQ(verdict(at_its_limit), Verdict::power_bound);
    EXPECT_EQ(verdict(copying), Verdict::pcie_bound);
    EXPECT_EQ(verdict(streaming), Verdict::memory_bound);
    EXPECT_EQ(verdict(multiplying), Verdict::compute_bound);
    EXPECT_EQ(verdict(starving), Verdict::input_bound);
    EXPECT_EQ(verdict(with(starving, host_cpu, 20)), std::nullopt) << "slow, and nobody knows why";
}

TEST(Rules, ThresholdsAreWhereTheTableSays) {
    EXPECT_EQ(verdict({{utilization, 4.9}}), Verdict::idle);
    EXPECT_EQ(verdict({{utilization, 5}}), std::nullopt);
    EXPECT_EQ(verdict(with(too_hot, thermal_throttled, 4.9)), Verdict::compute_bound);
    EXPECT_EQ(verdict(with(too_hot, thermal_throttled, 5)), Verdict::thermal_bound);
    EXPECT_EQ(verdict(with(too_hot, utilization, 30)), Verdict::compute_bound) << "a hot room, not its work";
    EXPECT_EQ(verdict(with(at_its_limit, power, 330)), Verdict::compute_bound);
    EXPECT_EQ(verdict(with(with(at_its_limit, power, 330), power_throttled, 10)), Verdict::power_bound);
    EXPECT_EQ(verdict(with(copying, pcie_received, 20'000)), std::nullopt);
    EXPECT_EQ(verdict(with(with(copying, sm_active, 60), utilization, 95)), std::nullopt)
        << "it copies while it works";
    EXPECT_EQ(verdict(with(streaming, memory_active, 59)), Verdict::compute_bound);
    EXPECT_EQ(verdict(with(starving, utilization, 50)), std::nullopt);
    EXPECT_EQ(verdict(with(with(starving, host_cpu, 10), host_disk, 80)), Verdict::input_bound);
}

TEST(Rules, HeatIsSaidBeforePowerAndBothBeforeWork) {
    Situation all = too_hot;
    all.merge(Situation{at_its_limit});
    all.merge(Situation{streaming});
    EXPECT_EQ(verdict(all), Verdict::thermal_bound);
    EXPECT_EQ(verdict(without(all, thermal_throttled)), Verdict::power_bound);
    EXPECT_EQ(verdict(without(without(all, thermal_throttled), power_limit)), Verdict::memory_bound);
}

TEST(Rules, WhatWasNotMeasuredGivesNoVerdict) {
    EXPECT_EQ(verdict({}), std::nullopt);
    EXPECT_EQ(verdict(without(at_rest, utilization)), std::nullopt) << "nothing says that it was idle";
    EXPECT_EQ(verdict(without(too_hot, thermal_throttled)), Verdict::compute_bound);
    EXPECT_EQ(verdict(without(at_its_limit, power_limit)), Verdict::compute_bound);
    EXPECT_EQ(verdict(without(copying, pcie_generation)), std::nullopt) << "of which link?";
    EXPECT_EQ(verdict(without(copying, pcie_width)), std::nullopt);
    EXPECT_EQ(verdict(without(streaming, memory_active)), Verdict::compute_bound);
    EXPECT_EQ(verdict(without(without(streaming, tensor_active), sm_active)), std::nullopt);
    EXPECT_EQ(verdict(without(starving, host_cpu)), std::nullopt);
}

TEST(Rules, EachSaysWhatItIsWhatToDoAndWhoSaysSo) {
    for (const Rule& rule : rules()) {
        EXPECT_EQ(&rule_of(rule.verdict), &rule) << words(rule.verdict);
        EXPECT_FALSE(rule.help.empty() || rule.advice.empty() || rule.source.empty()) << words(rule.verdict);
        // What it asks for is shown as evidence.
        for (const Condition& condition : rule.all)
            EXPECT_THAT(rule.evidence, ::testing::Contains(condition.figure)) << words(rule.verdict);
    }
}

TEST(Figures, WhatFollowsNeedsAllItsParts) {
    const Figures all = figures_of({{memory_used, 20},
                                    {memory_total, 80},
                                    {power, 175},
                                    {power_limit, 350},
                                    {temperature, 80},
                                    {temperature_slowdown, 90},
                                    {pcie_sent, 100},
                                    {pcie_received, 15'754},
                                    {pcie_generation, 4},
                                    {pcie_width, 16}});
    EXPECT_FLOAT_EQ(all[memory_used_percent], 25);
    EXPECT_FLOAT_EQ(all[power_percent], 50);
    EXPECT_FLOAT_EQ(all[heat_margin], 10);
    EXPECT_NEAR(all[pcie_percent], 50, 0.1);
    const Figures some = figures_of({{memory_used, 20}, {memory_total, 0}, {power, 1}, {temperature, 80}});
    for (const Figure figure : {memory_used_percent, power_percent, heat_margin, pcie_percent})
        EXPECT_FALSE(some.has(figure)) << facts_of(figure).name;
    EXPECT_FLOAT_EQ(figures_of({{pcie_received, 800}, {pcie_generation, 3}, {pcie_width, 1}})[pcie_percent],
                    static_cast<float>(100 * 800 / 984.6))
        << "one way was measured";
    EXPECT_EQ(pcie_megabytes_a_second(9, 16), 0);
}

TEST(Figures, EachMetricIsOneOfTheSeries) {
    for (const FigureFacts& row : figure_table()) {
        if (row.metric.empty()) continue;
        const MetricFacts* metric = find_metric(row.metric);
        ASSERT_NE(metric, nullptr) << row.metric;
        EXPECT_EQ(metric->of, row.of) << row.metric;
        EXPECT_EQ(metric->kind == series::Kind::counter, row.over == series::Over::rate) << row.metric;
    }
}

}  // namespace

}  // namespace hostler::report

#include "domain/report/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/report/text.h"

namespace hostler::report {

namespace {

using ::testing::ElementsAre;

constexpr Millis step = 600'000;
constexpr Millis start = 20'000LL * 86'400'000;  // Midnight.

// Series in which each GPU has a sample each 10 s.
struct Played {
    explicit Played(std::vector<std::string> by, Depth depth = Depth::all) {
        question = {.from = start, .to = start + 6 * step, .step = step, .by = std::move(by), .depth = depth};
    }
    // What one GPU measured while it had these labels, step by step; `off`: it had them not.
    static constexpr double off = -1;
    void gpu(const std::string& gpu, series::Labels labels, std::vector<double> utilization,
             std::map<std::string, double> more = {}) {
        labels["device"] = "gpu/" + gpu;
        labels["gpu"] = gpu;
        labels.try_emplace("host", "h-a");
        std::vector<double> counts, values;
        for (const double value : utilization) {
            counts.push_back(value == off ? NAN : 60);
            values.push_back(value == off ? NAN : value);
        }
        of["count"].push_back({labels, counts});
        of["gpu_utilization_percent"].push_back({labels, values});
        for (const auto& [metric, value] : more) {
            std::vector<double> same;
            for (const double count : counts) same.push_back(std::isnan(count) ? NAN : value);
            of[metric].push_back({labels, same});
        }
    }
    void host(const std::string& metric, double value) {
        of[metric].push_back({{{"host", "h-a"}, {"device", "host/h-a"}}, std::vector<double>(6, value)});
    }
    Result<> pass(Builder& builder, std::size_t first, std::size_t last) {
        builder.begin(start + static_cast<Millis>(first) * step, start + static_cast<Millis>(last) * step);
        for (const Ask& ask : asks_of(question.depth)) {
            const std::string name = ask.figure                                ? std::string{ask.metric}
                                     : ask.metric == "gpu_utilization_percent" ? "count"
                                                                               : "none";
            auto lines = of[name];
            for (series::Line& line : lines)
                line.values.assign(line.values.begin() + static_cast<std::ptrdiff_t>(first),
                                   line.values.begin() + static_cast<std::ptrdiff_t>(last));
            TRY(builder.take(ask, std::move(lines)));
        }
        while (TRY(builder.work())) {
        }
        return {};
    }
    Report report(std::size_t top = 0, std::size_t stretch = 6) {
        Builder builder{question};
        for (std::size_t at = 0; at < 6; at += stretch)
            EXPECT_TRUE(pass(builder, at, std::min<std::size_t>(6, at + stretch)));
        return std::move(builder).finish(top);
    }
    Question question;
    std::map<std::string, std::vector<series::Line>> of;
};

series::Labels held(const std::string& tenant, const std::string& workload = "work") {
    return {{"use", "instance"}, {"tenant", tenant}, {"workload", workload}, {"zone", "nj"}};
}

constexpr double off = Played::off;

TEST(Build, HoursAreCountedByHolder) {
    Played played{{"tenant"}};
    played.gpu("a", held("acme"), {100, 50, 0, 0, off, off}, {{"gpu_power_mw", 360'000}});
    played.gpu("a", {{"zone", "nj"}}, {off, off, off, off, 0, 0});
    played.gpu("b", {{"use", "stock"}, {"zone", "nj"}}, {0, 0, 0, 0, 0, 0});
    const Report report = played.report();
    ASSERT_EQ(report.usage.size(), 2u);
    const UsageLine& acme = report.usage[0];
    EXPECT_EQ(acme.labels.at("tenant"), "acme");
    EXPECT_EQ(acme.gpus, 1);
    EXPECT_NEAR(acme.claimed_hours, 4 / 6.0, 0.001);
    EXPECT_NEAR(acme.busy_hours, 1.5 / 6, 0.001);
    EXPECT_NEAR(acme.idle_hours, 2 / 6.0, 0.001);
    EXPECT_NEAR(*acme.utilization_percent, 37.5, 0.001);
    EXPECT_NEAR(acme.energy_kwh, 0.36 * 4 / 6, 0.001);
    EXPECT_FALSE(acme.memory_used_percent) << "nothing was measured";
    const UsageLine& nobody = report.usage[1];
    EXPECT_EQ(nobody.labels.at("tenant"), "");
    EXPECT_NEAR(nobody.free_hours, 2 / 6.0, 0.001);
    EXPECT_NEAR(nobody.other_hours, 1, 0.001);
    EXPECT_EQ(report.total.gpus, 2);
    EXPECT_NEAR(report.total.measured_hours, 2, 0.001);
}

TEST(Build, WhatWasNotMeasuredIsNeitherBusyNorIdle) {
    Played played{{"tenant"}};
    const series::Labels labels{
        {"use", "instance"}, {"tenant", "acme"}, {"device", "gpu/a"}, {"host", "h-a"}};
    played.of["count"].push_back({labels, {60, 60, 60, NAN, NAN, NAN}});
    const Report report = played.report();
    ASSERT_EQ(report.usage.size(), 1u);
    EXPECT_NEAR(report.usage[0].claimed_hours, 0.5, 0.001);
    EXPECT_NEAR(report.usage[0].unknown_hours, 0.5, 0.001);
    EXPECT_EQ(report.usage[0].idle_hours, 0);
    EXPECT_FALSE(report.usage[0].utilization_percent);
    EXPECT_TRUE(report.waste.empty());
    EXPECT_TRUE(report.bottlenecks.empty());
}

TEST(Build, AStepHasNoMoreTimeThanItHas) {
    Played played{{"tenant"}};
    played.gpu("a", held("acme"), {80, 80, 80, 80, 80, 80});
    for (double& count : played.of["count"][0].values) count = 66;  // Samples came a little sooner.
    EXPECT_NEAR(played.report().usage[0].claimed_hours, 1, 0.001);
    for (double& count : played.of["count"][0].values) count = 30;  // The host was silent half of the time.
    EXPECT_NEAR(played.report().usage[0].claimed_hours, 0.5, 0.001);
}

TEST(Build, WasteIsSortedAndSaysSinceWhen) {
    Played played{{"instance"}};
    played.gpu("a", held("acme", "notebook"), {90, 0, 0, 90, 0, 0});
    played.gpu("b", held("acme", "forgotten"), {0, 0, 0, 0, 0, 0},
               {{"gpu_memory_used_bytes", 60e9}, {"gpu_memory_total_bytes", 80e9}});
    played.gpu("c", held("acme", "done"), {0, 0, 0, 90, 90, 90});
    played.gpu("d", held("acme", "training"), {90, 90, 90, 90, 90, 90});
    const Report report = played.report();
    ASSERT_EQ(report.waste.size(), 3u) << "training is no waste";
    EXPECT_EQ(report.waste[0].labels.at("instance"), "forgotten");
    EXPECT_EQ(report.waste[0].idle_percent, 100);
    EXPECT_NEAR(report.waste[0].longest_hours, 1, 0.001);
    EXPECT_NEAR(*report.waste[0].memory_used_percent, 75, 0.1);
    EXPECT_EQ(report.waste[0].idle_since, WallTime{std::chrono::milliseconds{start}});
    EXPECT_FALSE(report.waste[0].advice.empty());
    EXPECT_EQ(report.waste[1].labels.at("instance"), "notebook");
    EXPECT_NEAR(report.waste[1].longest_hours, 2 / 6.0, 0.001);
    EXPECT_EQ(report.waste[1].idle_since, WallTime{std::chrono::milliseconds{start + 4 * step}});
    EXPECT_EQ(report.waste[2].idle_since, std::nullopt);
}

// It ended within the last step, and nobody can stop it any more.
TEST(Build, WhatHoldsItsGpuNoMoreIsNotIdleStill) {
    Played played{{"instance"}};
    played.gpu("a", held("acme", "ended"), {0, 0, 0, 0, 0, 0});
    played.gpu("b", held("acme", "forgotten"), {0, 0, 0, 0, 0, 0});
    played.question.held = {held_name("h-a", "b", "acme", "forgotten")};
    const Report report = played.report();
    ASSERT_EQ(report.waste.size(), 2u);
    for (const WasteLine& line : report.waste)
        EXPECT_EQ(line.idle_since.has_value(), line.labels.at("instance") == "forgotten")
            << line.labels.at("instance");
    EXPECT_NE(report.waste[0].advice, report.waste[1].advice) << "one of them is told to stop";
}

TEST(Build, IdleHoursCostWhatHeldThen) {
    Played played{{"tenant"}};
    auto labels = held("acme");
    labels["model"] = "H100 SXM5 80GB";
    played.gpu("a", labels, {90, 0, 0, 0, 90, 0});
    played.gpu("b", held("globex"), {0, 0, 0, 0, 0, 0});  // Of a model that has no price.
    EXPECT_TRUE(played.report().idle_costs.empty());
    constexpr std::int64_t turn = (start + 3 * step) * 1000;
    played.question.prices.prices = {{"p-1",
                                      {.id = "p-1",
                                       .terms = {.gpu_type = "H100"},
                                       .amount_micros = 6'000'000,
                                       .currency = "USD",
                                       .until = turn}},
                                     {"p-2",
                                      {.id = "p-2",
                                       .terms = {.gpu_type = "H100"},
                                       .amount_micros = 12'000'000,
                                       .currency = "USD",
                                       .from = turn}}};
    for (const std::size_t stretch : {6, 1}) {
        const Report report = played.report(0, stretch);
        ASSERT_EQ(report.waste.size(), 2u);
        const auto& acme = report.waste[1];
        ASSERT_EQ(acme.labels.at("tenant"), "acme");
        EXPECT_EQ(text_of(acme.idle_costs), "6.00 USD") << "two steps at 1, two at 2";
        EXPECT_TRUE(report.waste[0].idle_costs.empty());
        EXPECT_EQ(text_of(report.idle_costs), "6.00 USD");
    }
}

TEST(Build, VerdictsHaveTheirHoursAndEvidence) {
    Played played{{"tenant"}};
    played.gpu("a", held("acme"), {20, 30, 20, 30, 95, 95},
               {{"gpu_sm_active_ppm", 900'000}, {"gpu_memory_active_ppm", 200'000}});
    played.host("host_cpu_busy_percent", 96);
    played.host("host_disk_busy_ms", 100);
    Report report = played.report();
    ASSERT_EQ(report.bottlenecks.size(), 1u);
    EXPECT_EQ(report.bottlenecks[0].verdict, Verdict::compute_bound) << "multiprocessors are busy all along";

    played.of.erase("gpu_sm_active_ppm");
    report = played.report();
    ASSERT_EQ(report.bottlenecks.size(), 1u);
    const Finding& finding = report.bottlenecks[0];
    EXPECT_EQ(finding.verdict, Verdict::input_bound);
    EXPECT_NEAR(finding.hours, 4 / 6.0, 0.001);
    EXPECT_NEAR(finding.percent, 100 * 4 / 6.0, 0.01);
    ASSERT_EQ(finding.evidence.size(), 3u) << "what was not measured is no evidence";
    EXPECT_NEAR(finding.evidence[0].value, 25, 0.001) << finding.evidence[0].figure;
    EXPECT_NEAR(finding.evidence[1].value, 96, 0.001) << finding.evidence[1].figure;
    EXPECT_NEAR(finding.evidence[2].value, 10, 0.001) << finding.evidence[2].figure;
}

TEST(Build, AHostTellsOfATenantOnlyWhenItIsAllIts) {
    Played played{{"tenant"}};
    played.gpu("a", held("acme"), {20, 20, 20, 20, 20, 20});
    played.gpu("b", held("acme"), {20, 20, 20, off, off, off});
    played.host("host_cpu_busy_percent", 96);
    played.question.hosts_gpus = {{"h-a", 2}};
    const Report report = played.report();
    ASSERT_EQ(report.bottlenecks.size(), 1u);
    EXPECT_NEAR(report.bottlenecks[0].hours, 1, 0.001) << "in the last three steps b was another's";
    played.question.hosts_gpus = {{"h-a", 3}};
    EXPECT_TRUE(played.report().bottlenecks.empty());
}

TEST(Build, StretchByStretchIsTheSame) {
    Played played{{"tenant", "day"}};
    played.gpu("a", held("acme"), {90, 0, 0, 0, 0, 90}, {{"gpu_power_mw", 100'000}});
    played.gpu("b", held("globex"), {0, 10, 70, off, off, off});
    const Report whole = played.report(), parts = played.report(0, 2);
    ASSERT_EQ(whole.usage.size(), 2u);
    ASSERT_EQ(parts.usage.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(parts.usage[i].labels, whole.usage[i].labels);
        EXPECT_EQ(parts.usage[i].idle_hours, whole.usage[i].idle_hours);
        EXPECT_EQ(parts.usage[i].energy_kwh, whole.usage[i].energy_kwh);
    }
    EXPECT_NEAR(parts.waste[0].longest_hours, 4 / 6.0, 0.001) << "across the stretches";
    EXPECT_EQ(parts.timeline.size(), whole.timeline.size());
}

TEST(Build, ByTimeThereIsALineEach) {
    Played played{{"hour"}};
    played.question.to = start + 9 * step;
    played.gpu("a", held("acme"), {90, 90, 90, 90, 90, 90, 45, 45, 45});
    Builder builder{played.question};
    ASSERT_TRUE(played.pass(builder, 0, 9));
    const Report report = std::move(builder).finish(0);
    ASSERT_EQ(report.usage.size(), 2u);
    EXPECT_EQ(report.usage[0].labels.at("hour"), "2024-10-04 00:00");
    EXPECT_NEAR(report.usage[0].claimed_hours, 1, 0.001);
    EXPECT_NEAR(report.usage[1].claimed_hours, 0.5, 0.001);
    EXPECT_NEAR(*report.usage[1].utilization_percent, 45, 0.001);
    ASSERT_EQ(report.timeline.size(), 9u);
    EXPECT_NEAR(report.timeline[0].gpus, 1, 0.001);
    EXPECT_NEAR(report.timeline[8].busy, 0.45, 0.001);
}

TEST(Build, OnlySoManyAreShown) {
    Played played{{"tenant"}};
    for (const char* tenant : {"a", "b", "c"}) played.gpu(tenant, held(tenant), {0, 0, 0, 0, 0, 0});
    const Report report = played.report(2);
    EXPECT_EQ(report.usage.size(), 2u);
    EXPECT_EQ(report.waste.size(), 2u);
    EXPECT_EQ(report.left_out, 1);
    EXPECT_NEAR(report.total.claimed_hours, 3, 0.001) << "all of them";
}

TEST(Build, ThereIsABoundToLinesAndCells) {
    Played played{{"tenant"}};
    const Ask count = asks_of(Depth::usage).front();
    const auto lines = [](std::size_t many, std::size_t steps) {
        std::vector<series::Line> lines;
        for (std::size_t i = 0; i < many; ++i)
            lines.push_back({{{"tenant", std::to_string(i)}, {"device", std::to_string(i)}},
                             std::vector<double>(steps, 60)});
        return lines;
    };
    Builder builder{played.question};
    builder.begin(start, start + 6 * step);
    const auto cells = builder.take(count, lines(cells_max / 6 + 1, 6));
    ASSERT_FALSE(cells);
    EXPECT_EQ(cells.error().reason, stretch_too_large);
    builder.begin(start, start + step);
    ASSERT_TRUE(builder.take(count, lines(static_cast<std::size_t>(lines_max) + 1, 1)));
    auto more = builder.work();
    while (more && *more) more = builder.work();
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().reason, "report_too_large");
}

TEST(Build, TheUsualStepShowsWhatIsIdle) {
    EXPECT_EQ(usual_step(3'600'000), 60'000);
    EXPECT_EQ(usual_step(86'400'000), 300'000);
    EXPECT_EQ(usual_step(400LL * 86'400'000), step_max);
}

}  // namespace

}  // namespace hostler::report

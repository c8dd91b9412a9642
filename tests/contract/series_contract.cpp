#include "series_contract.h"

#include <gmock/gmock.h>

#include <random>

namespace hostler::contract {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;
using ::testing::SizeIs;

using namespace series;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

namespace {

const std::vector<Column> columns{{"power_mw", series::Kind::gauge, Form::integer},
                                  {"energy_mj", series::Kind::counter, Form::integer},
                                  {"load", series::Kind::gauge, Form::real}};

Query over(std::string metric, Over what, Millis to, Millis step) {
    return {.metric = std::move(metric), .from = 0, .to = to, .step = step, .over = what};
}

}  // namespace

Result<DeviceNumber> SeriesContract::describe(std::string id, Labels labels, Millis from) {
    return run(
        store().describe({.id = std::move(id), .columns = columns, .labels = std::move(labels)}, from));
}

Result<> SeriesContract::append(DeviceNumber device, Millis time, std::vector<Cell> cells) {
    SampleBatch batch{.rows = {}, .cells = std::move(cells)};
    batch.rows.push_back({device, time});
    return run(store().append(std::move(batch)));
}

std::vector<Line> SeriesContract::lines(Query query) {
    auto answer = run(store().query(std::move(query)));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : std::vector<Line>{};
}

std::vector<double> SeriesContract::values(Query query) {
    const auto all = lines(std::move(query));
    EXPECT_LE(all.size(), 1U);
    return all.empty() ? std::vector<double>{} : all[0].values;
}

TEST_P(SeriesContract, WhatASampleIsComesBackOverARestartAndFromASegment) {
    const auto gpu = describe("gpu/1", {{"zone", "lon"}});
    ASSERT_TRUE(gpu);
    ASSERT_TRUE(append(*gpu, 1000, {70'000, 10, real_cell(0.25)}));
    ASSERT_TRUE(append(*gpu, 2000, {absent, 20, real_cell(-1.5)}));
    ASSERT_TRUE(append(*gpu, 3000, {90'000, 35, absent}));
    const auto look = [this] {
        EXPECT_THAT(values(over("power_mw", Over::last, 4000, 1000)),
                    ElementsAre(NanSensitiveDoubleEq(none), 70'000, NanSensitiveDoubleEq(none), 90'000));
        EXPECT_THAT(values(over("load", Over::last, 4000, 1000)),
                    ElementsAre(NanSensitiveDoubleEq(none), 0.25, -1.5, NanSensitiveDoubleEq(none)));
        EXPECT_THAT(values(over("energy_mj", Over::rate, 4000, 4000)), ElementsAre(12.5));
        EXPECT_THAT(lines(over("nothing", Over::last, 4000, 1000)), IsEmpty());
    };
    look();
    rig_->restart();
    look();
    ASSERT_TRUE(run(store().flush()));
    look();
    rig_->restart();
    look();
}

TEST_P(SeriesContract, AReportThatComesAgainIsStoredOnceAndTheFirstStays) {
    const auto gpu = describe("gpu/1", {});
    ASSERT_TRUE(append(*gpu, 1000, {1, 1, absent}));
    ASSERT_TRUE(append(*gpu, 2000, {2, 2, absent}));
    ASSERT_TRUE(append(*gpu, 1000, {5, 5, absent}));
    ASSERT_TRUE(append(*gpu, 2000, {6, 6, absent}));
    EXPECT_THAT(values(over("power_mw", Over::sum, 4000, 4000)), ElementsAre(3));
    ASSERT_TRUE(run(store().flush()));
    ASSERT_TRUE(append(*gpu, 2000, {7, 7, absent}));
    EXPECT_THAT(values(over("power_mw", Over::sum, 4000, 4000)), ElementsAre(3));
    EXPECT_THAT(values(over("power_mw", Over::count, 4000, 4000)), ElementsAre(2));
    ASSERT_TRUE(run(store().flush()));
    EXPECT_THAT(values(over("power_mw", Over::count, 4000, 4000)), ElementsAre(2));
}

TEST_P(SeriesContract, RowsMayComeInAnyOrder) {
    const auto gpu = describe("gpu/1", {});
    for (const Millis time : {5000, 1000, 4000}) ASSERT_TRUE(append(*gpu, time, {time, time / 100, absent}));
    ASSERT_TRUE(run(store().flush()));
    for (const Millis time : {2000, 6000, 3000}) ASSERT_TRUE(append(*gpu, time, {time, time / 100, absent}));
    EXPECT_THAT(values(over("power_mw", Over::last, 7000, 1000)),
                ElementsAre(NanSensitiveDoubleEq(none), 1000, 2000, 3000, 4000, 5000, 6000));
    EXPECT_THAT(values(over("energy_mj", Over::rate, 7000, 7000)), ElementsAre(10));
}

TEST_P(SeriesContract, ARowHasTheLabelsOfItsTime) {
    const auto gpu = describe("gpu/1", {{"zone", "lon"}, {"tenant", "a"}});
    ASSERT_TRUE(append(*gpu, 1000, {10, 0, absent}));
    ASSERT_EQ(describe("gpu/1", {{"zone", "lon"}, {"tenant", "b"}}, 2000), gpu);
    ASSERT_TRUE(append(*gpu, 2000, {20, 8, absent}));
    ASSERT_TRUE(append(*gpu, 3000, {30, 16, absent}));
    auto query = over("power_mw", Over::sum, 4000, 4000);
    query.where = {{.label = "tenant", .values = {"b"}}};
    const auto look = [&] {
        EXPECT_THAT(values(query), ElementsAre(50));
        // What rose up to a sample belongs to who had the GPU then.
        auto rise = over("energy_mj", Over::increase, 4000, 4000);
        rise.where = query.where;
        EXPECT_THAT(values(rise), ElementsAre(16));
        auto not_b = query;
        not_b.where[0].differs = true;
        EXPECT_THAT(values(not_b), ElementsAre(10));
        auto by = query;
        by.where = {};
        by.across = Across::sum;
        by.by = {"tenant"};
        const auto groups = lines(by);
        ASSERT_THAT(groups, SizeIs(2));
        EXPECT_EQ(groups[1].labels, (Labels{{"tenant", "b"}}));
        // Of both tenants together it is one device, not two.
        by.by = {"zone"};
        by.across = Across::count;
        EXPECT_THAT(values(by), ElementsAre(1));
    };
    look();
    ASSERT_TRUE(run(store().flush()));
    rig_->restart();
    look();
}

TEST_P(SeriesContract, OtherColumnsAreTheSameDevice) {
    const auto old = describe("gpu/1", {{"zone", "lon"}});
    ASSERT_TRUE(append(*old, 1000, {10, 0, absent}));
    const auto fresh = run(store().describe(
        {.id = "gpu/1", .columns = {{"power_mw"}, {"fan_percent"}}, .labels = {{"zone", "lon"}}}, 0));
    ASSERT_TRUE(fresh);
    ASSERT_NE(*fresh, *old);
    SampleBatch batch{.rows = {}, .cells = {20, 30}};
    batch.rows.push_back({*fresh, 2000});
    ASSERT_TRUE(run(store().append(std::move(batch))));
    EXPECT_THAT(values(over("power_mw", Over::sum, 4000, 4000)), ElementsAre(30));
    EXPECT_THAT(values(over("fan_percent", Over::sum, 4000, 4000)), ElementsAre(30));
}

TEST_P(SeriesContract, GroupsQuantilesAndTheHighest) {
    for (int i = 0; i < 10; ++i) {
        const auto gpu = describe("gpu/" + std::to_string(i),
                                  {{"zone", i < 4 ? "lon" : "nj"}, {"gpu", std::to_string(i)}});
        for (int t = 0; t < 3; ++t) ASSERT_TRUE(append(*gpu, t * 1000, {100 * i + t, 0, absent}));
    }
    auto query = over("power_mw", Over::max, 3000, 3000);
    query.across = Across::avg;
    query.by = {"zone"};
    auto zones = lines(query);
    ASSERT_THAT(zones, SizeIs(2));
    EXPECT_EQ(zones[0].labels, (Labels{{"zone", "lon"}}));
    EXPECT_THAT(zones[0].values, ElementsAre(152));
    EXPECT_THAT(zones[1].values, ElementsAre(652));
    query.across = Across::quantile;
    query.across_quantile = 0.5;
    query.by = {};
    EXPECT_THAT(values(query), ElementsAre(452));
    query.across = Across::none;
    query.top = 2;
    auto top = lines(query);
    ASSERT_THAT(top, SizeIs(2));
    EXPECT_EQ(top[0].labels, (Labels{{"device", "gpu/9"}, {"gpu", "9"}, {"zone", "nj"}}));
    EXPECT_EQ(top[1].labels["gpu"], "8");
    query.over = Over::quantile;
    query.over_quantile = 0.25;
    EXPECT_THAT(lines(query)[0].values, ElementsAre(900.5));
}

TEST_P(SeriesContract, ACounterThatBeginsAnewCountsFromZeroAndSilenceCountsNothing) {
    const auto gpu = describe("gpu/1", {});
    for (const auto& [time, energy] : std::vector<std::pair<Millis, Cell>>{
             {0, 100}, {1000, 150}, {2000, 30}, {1'000'000, 500}, {1'001'000, 510}})
        ASSERT_TRUE(append(*gpu, time, {0, energy, absent}));
    EXPECT_THAT(values(over("energy_mj", Over::increase, 2'000'000, 2'000'000)), ElementsAre(90));
    EXPECT_THAT(values(over("energy_mj", Over::rate, 2'000'000, 2'000'000)), ElementsAre(30));
    // The first sample of a step counts from the one before the step.
    auto later = over("energy_mj", Over::increase, 3000, 1000);
    later.from = 1000;
    EXPECT_THAT(values(later), ElementsAre(50, 30));
}

TEST_P(SeriesContract, WhatMakesNoSenseIsRefusedAndChangesNothing) {
    EXPECT_EQ(run(store().describe({.id = "", .columns = columns, .labels = {}}, 0)).error().code,
              Code::invalid);
    EXPECT_EQ(run(store().describe({.id = "x", .columns = {}, .labels = {}}, 0)).error().code, Code::invalid);
    EXPECT_EQ(run(store().describe({.id = "x", .columns = {{"a"}, {"a"}}, .labels = {}}, 0)).error().code,
              Code::invalid);
    const auto gpu = describe("gpu/1", {});
    EXPECT_EQ(append(*gpu + 1, 1000, {1, 2, 3}).error().code, Code::invalid);
    EXPECT_EQ(append(*gpu, 1000, {1, 2}).error().code, Code::invalid);
    EXPECT_THAT(lines(over("power_mw", Over::last, 4000, 1000)), IsEmpty());
    for (auto query : {over("", Over::last, 1000, 10), over("power_mw", Over::last, 1000, 0),
                       over("power_mw", Over::last, 0, 10), over("power_mw", Over::last, 1'000'000'000, 1)})
        EXPECT_EQ(run(store().query(query)).error().code, Code::invalid);
    auto query = over("power_mw", Over::quantile, 1000, 10);
    query.over_quantile = 1.5;
    EXPECT_EQ(run(store().query(query)).error().code, Code::invalid);
}

SeriesStory series_story(std::uint64_t seed) {
    std::mt19937_64 dice{seed};
    const auto below = [&dice](std::uint64_t n) { return static_cast<std::size_t>(dice() % n); };
    const auto labels = [&] {
        Labels made{{"zone", "z" + std::to_string(below(3))}};
        if (below(3) > 0) made["tenant"] = "t" + std::to_string(below(2));
        return made;
    };
    SeriesStory story;
    for (std::size_t i = 0; i < 2 + below(6); ++i)
        story.devices.push_back({.id = "gpu/" + std::to_string(i), .columns = columns, .labels = labels()});
    std::vector<Cell> energy(story.devices.size());
    std::vector<Millis> since(story.devices.size());  // It has these labels; late rows come from then on.
    Millis now = 0;
    for (int i = 0; i < 300; ++i) {
        const auto device = below(story.devices.size());
        now += static_cast<Millis>(below(50) == 0 ? 400'000 : below(3000));
        const auto chance = below(100);
        if (chance < 3) {
            story.steps.push_back({.device = device, .labels = labels(), .time = now});
            since[device] = now;
        } else if (chance < 5) {
            story.steps.push_back(
                {.then = chance == 3 ? SeriesStory::Step::Then::flush : SeriesStory::Step::Then::restart});
        } else {
            const auto late = static_cast<Millis>(below(10) == 0 ? below(60'000) : 0);
            const auto time = std::max(now - late, since[device]);
            energy[device] = below(40) == 0 ? 0 : energy[device] + static_cast<Cell>(below(5000));
            story.steps.push_back(
                {.device = device,
                 .time = time,
                 .cells = {
                     static_cast<Cell>(below(8) == 0 ? static_cast<std::size_t>(absent) : 300 + below(50)),
                     energy[device],
                     below(4) == 0 ? absent : real_cell(static_cast<double>(below(1000)) / 8)}});
        }
    }
    constexpr Over overs[] = {Over::last,  Over::avg,      Over::min,      Over::max, Over::sum,
                              Over::count, Over::quantile, Over::increase, Over::rate};
    constexpr Across acrosses[] = {Across::none, Across::sum,   Across::avg,     Across::min,
                                   Across::max,  Across::count, Across::quantile};
    for (int i = 0; i < 12; ++i) {
        Query query{.metric = columns[below(3)].name};
        query.from = static_cast<Millis>(below(static_cast<std::uint64_t>(now)));
        query.to = query.from + 1 + static_cast<Millis>(below(static_cast<std::uint64_t>(now)));
        query.step = 1000 + static_cast<Millis>(below(100'000));
        query.over = overs[below(9)];
        query.over_quantile = static_cast<double>(below(5)) / 4;
        query.across = acrosses[below(7)];
        query.across_quantile = static_cast<double>(below(5)) / 4;
        if (below(2) == 0)
            query.where.push_back({.label = "zone", .values = {"z0", "z1"}, .differs = below(2) == 0});
        if (below(3) == 0) query.where.push_back({.label = "tenant", .values = {below(2) == 0 ? "" : "t1"}});
        if (below(2) == 0) query.by.push_back("zone");
        if (below(3) == 0) query.by.push_back("tenant");
        story.queries.push_back(std::move(query));
    }
    return story;
}

std::vector<std::vector<Line>> tell(SeriesRig& rig, const SeriesStory& story) {
    std::vector<DeviceNumber> numbers;
    auto devices = story.devices;
    for (const auto& device : devices) numbers.push_back(rig.run(rig.store().describe(device, 0)).value());
    std::vector<Millis> since(devices.size());
    for (const auto& step : story.steps) {
        if (step.labels) {
            since[step.device] = step.time;
            devices[step.device].labels = *step.labels;
            EXPECT_TRUE(rig.run(rig.store().describe(devices[step.device], step.time)));
        } else if (!step.cells.empty()) {
            SampleBatch batch{.rows = {}, .cells = step.cells};
            batch.rows.push_back({numbers[step.device], step.time});
            EXPECT_TRUE(rig.run(rig.store().append(std::move(batch))));
        } else if (step.then == SeriesStory::Step::Then::flush) {
            EXPECT_TRUE(rig.run(rig.store().flush()));
        } else {
            rig.restart();
            // As whoever collects does after a restart: with what holds, and since when.
            for (std::size_t i = 0; i < devices.size(); ++i)
                numbers[i] = rig.run(rig.store().describe(devices[i], since[i])).value();
        }
    }
    std::vector<std::vector<Line>> answers;
    for (const auto& query : story.queries) answers.push_back(rig.run(rig.store().query(query)).value());
    return answers;
}

}  // namespace hostler::contract

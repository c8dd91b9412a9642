// What instances use: whose it is, who sees it, and what counters are worth.
#include "roles/master/series/instances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "domain/series/evaluate.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/series/query.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/host_rig.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr series::Millis step = 10'000;

struct InstanceSeries : ::testing::Test, testing::DeskRig {
    InstanceSeries() {
        a = host("a", "nj", 4), b = host("b", "nj", 4);
        HOSTLER_ASSERT(stock(4));
        one = running("one", "acme");
        two = running("two", "globex");
        for (const std::string& id : {one, two}) estate.instances.edit(id).host = a;
    }
    Measurement tell(const std::map<std::string, InstanceSample>& told, ReportIs which = ReportIs::next) {
        if (which == ReportIs::next) time += step;
        Measurement made{.time = time};
        add_instances(desk, a, told, which, rows, made);
        const auto& columns = columns_of(Measured::instance);
        auto cell = made.cells.begin();
        for (const SeriesDevicePtr& device : made.devices) {
            Kept& into = kept[device->id];
            const series::Millis from = device->labels.from;
            std::erase_if(into.eras, [&](const series::Era& era) { return era.from >= from; });
            into.eras.push_back({from, device->labels.labels});
            into.times.push_back(time);
            into.columns.resize(columns.size());
            for (auto& column : into.columns) column.push_back(*cell++);
        }
        return made;
    }
    // What `tenant` is answered (empty: an operator): a value for all the time, by instance.
    std::map<std::string, double> seen(const std::string& tenant, const std::string& metric,
                                       series::Over over) {
        series::Query query{.metric = metric,
                            .where = series_where(desk, "", caller_for(tenant)).value(),
                            .from = 0,
                            .to = time + 1,
                            .step = time + 1,
                            .over = over,
                            .across = series::Across::sum,
                            .by = {"workload"}};
        series::Evaluation evaluation{query};
        const auto& columns = columns_of(Measured::instance);
        const auto at = std::ranges::find(columns, metric, &series::Column::name);
        for (const auto& [id, device] : kept) {
            const auto& cells = device.columns.at(static_cast<std::size_t>(at - columns.begin()));
            HOSTLER_ASSERT(evaluation.add(id, series::in_order(device.eras),
                                          series::points_of(device.times, cells, *at)));
        }
        std::map<std::string, double> values;
        for (const series::Line& line : std::move(evaluation).finish())
            values[line.labels.at("workload")] = line.values.at(0);
        return values;
    }
    struct Kept {
        std::vector<series::Era> eras;
        std::vector<series::Millis> times;
        std::vector<std::vector<series::Cell>> columns;
    };
    std::map<std::string, Kept> kept;
    std::map<std::string, InstanceRow> rows;
    series::Millis time = 1'000'000;
    std::string a, b, one, two;
};

TEST_F(InstanceSeries, ATenantSeesThatOfItsOwnInstancesAlone) {
    tell({{one, {.memory_bytes = 100}}, {two, {.memory_bytes = 700}}, {"i-none", {.memory_bytes = 1}}});
    const series::Labels& labels = kept.at("instance/h-a/0").eras.front().labels;
    EXPECT_EQ(labels.at("host"), "h-a");
    EXPECT_EQ(labels.at("zone"), "nj");
    EXPECT_EQ(labels.at("project"), "default");
    using series::Over;
    EXPECT_THAT(seen("acme", "instance_memory_bytes", Over::last), ElementsAre(Pair("one", 100)));
    EXPECT_THAT(seen("globex", "instance_memory_bytes", Over::last), ElementsAre(Pair("two", 700)));
    EXPECT_THAT(seen("initech", "instance_memory_bytes", Over::last), IsEmpty());
    EXPECT_THAT(seen("", "instance_memory_bytes", Over::last),
                UnorderedElementsAre(Pair("one", 100), Pair("two", 700)));
    EXPECT_THAT(seen("acme", "instance_cpu_ms", Over::last), IsEmpty()) << "not measured is not 0";
}

TEST_F(InstanceSeries, AHostHasNoSayAboutInstancesOfOthers) {
    estate.instances.edit(two).host = b;
    const Measurement made = tell({{one, {.cpu_ms = 1}}, {two, {.cpu_ms = 1}}});
    EXPECT_EQ(made.devices.size(), 1u);
    EXPECT_EQ(made.cells.size(), columns_of(Measured::instance).size());
}

TEST_F(InstanceSeries, ARateIsThatOfItsCountersAlsoOverAStartOfItsContainer) {
    using series::Over;
    for (const std::int64_t ms : {500'000, 505'000, 510'000}) tell({{one, {.cpu_ms = ms}}});
    EXPECT_THAT(seen("acme", "instance_cpu_ms", Over::rate), ElementsAre(Pair("one", 500)))
        << "half a CPU in thousandths; what it used before it was first seen is no part of it";
    tell({});  // It starts again.
    tell({{one, {.cpu_ms = 2'000}}});
    tell({{one, {.cpu_ms = 7'000}}});
    EXPECT_THAT(seen("acme", "instance_cpu_ms", Over::increase), ElementsAre(Pair("one", 17'000)));
}

// Rows are used again: what the one before counted is neither shown to the next, nor part of its rate.
TEST_F(InstanceSeries, ARowThatIsUsedAgainCountsFromZero) {
    using series::Over;
    tell({{one, {.network_sent_bytes = 1'000}}});
    tell({{one, {.network_sent_bytes = 5'000}}});
    estate.instances.edit(one).phase = InstancePhase::stopped;
    tell({{two, {.network_sent_bytes = 9'000'000}}});
    tell({{two, {.network_sent_bytes = 9'000'300}}});
    EXPECT_EQ(kept.size(), 1u) << "one row for both";
    EXPECT_THAT(seen("globex", "instance_network_sent_bytes", Over::increase), ElementsAre(Pair("two", 300)));
    EXPECT_THAT(seen("acme", "instance_network_sent_bytes", Over::increase), ElementsAre(Pair("one", 4'000)));
    rows.clear();  // As a new leader begins, of whose rows the store may know more.
    tell({{two, {.network_sent_bytes = 9'000'400}}});
    tell({{two, {.network_sent_bytes = 9'000'500}}});
    EXPECT_THAT(seen("globex", "instance_network_sent_bytes", Over::increase), ElementsAre(Pair("two", 400)));
}

TEST_F(InstanceSeries, AReportThatComesAgainSaysTheSameAndTakesNoRow) {
    EXPECT_THAT(tell({{one, {.cpu_ms = 100}}}, ReportIs::known).devices, IsEmpty());
    tell({{one, {.cpu_ms = 100}}});
    const Measurement first = tell({{one, {.cpu_ms = 150}}});
    const Measurement again = tell({{one, {.cpu_ms = 150}}}, ReportIs::known);
    EXPECT_EQ(again.cells, first.cells);
    EXPECT_EQ(again.devices, first.devices);
    const Measurement older = tell({{one, {.cpu_ms = 20}}}, ReportIs::known);
    EXPECT_EQ(older.cells.at(0), series::absent) << "of before its row began";
    EXPECT_EQ(tell({{one, {.cpu_ms = 160}}}).cells.at(0), 60);
}

TEST_F(InstanceSeries, AHostHasABoundedNumberOfRows) {
    std::map<std::string, InstanceSample> many;
    for (int i = 0; i < instance_series_host_max + 10; ++i) {
        Instance copy = instance(one);
        copy.id = fmt::format("i-many-{}", i);
        copy.caller_id = copy.id;
        many[copy.id] = {.cpu_ms = 1};
        estate.instances.add(std::move(copy));
    }
    EXPECT_EQ(tell(many).devices.size(), static_cast<std::size_t>(instance_series_host_max));
}

// ── On the wire

struct InstanceReports : ::testing::Test, testing::HostRig {};

TEST_F(InstanceReports, AreStoredInTheOrderThatTheHelloNamed) {
    run_term();
    wire::Link& link = access();
    up(link, 1, "h-a");
    uplink::Frame greeting;
    greeting.set_call(70);
    auto& hello = *greeting.mutable_agent_hello();
    hello.set_epoch(1);
    hello.set_life("life-1");
    hello.set_turn(1);
    for (const char* name : {"memory_bytes", "of_a_later_release", "cpu_ms"})
        hello.add_instance_metrics(name);
    say(link, 1, greeting);
    EXPECT_TRUE(told(link).has_agent_welcome());
    uplink::Frame first;
    first.mutable_report()->set_sequence(1);
    first.mutable_report()->set_workloads_complete(true);
    say(link, 1, first);
    (void)told(link);
    timers.advance(10s);
    desk().estate.hosts.edit("h-b").cordoned = true;
    const std::string id = started("one");
    EXPECT_TRUE(commit());
    timers.settle();
    (void)told(link);
    for (std::uint64_t sequence : {2, 3}) {
        timers.advance(1s);
        uplink::Frame frame;
        auto& report = *frame.mutable_report();
        report.set_sequence(sequence);
        report.set_time(timers.wall().time_since_epoch().count());
        report.mutable_host()->add_values(7);
        for (const std::string& of : {id, std::string{"i-none"}, std::string{}}) {
            auto& one = *report.add_instances();
            one.set_instance(of);
            for (const double value : {4096.0, 3.0, 1000.0 * static_cast<double>(sequence)})
                one.add_values(value);
        }
        say(link, 1, frame);
        (void)told(link);
    }
    timers.advance(1s);
    const auto* device = series.find("instance/h-a/0");
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(series.find("instance/h-a/1"), nullptr);
    ASSERT_EQ(device->rows.size(), 2u);
    const auto absent = series::absent;
    EXPECT_THAT(device->rows.rbegin()->second, ElementsAre(1000, 4096, absent, absent, absent, absent));
    EXPECT_EQ(device->device.columns.at(0).name, "instance_cpu_ms");
    EXPECT_EQ(testing::FakeSeries::labels_at(*device, series_millis(timers.wall())).at("workload"), "one");
}

}  // namespace
}  // namespace hostler::master

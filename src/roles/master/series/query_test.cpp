#include "roles/master/series/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "core/testing/metrics.h"
#include "roles/master/http/api.h"
#include "roles/master/series/care.h"
#include "roles/master/series/parts.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using hostler::testing::try_run;
using series::Across;
using series::Over;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct SeriesApi : ::testing::Test, testing::TermRig {
    SeriesApi() {
        Desk& now = desk();
        now.estate.zones.add({.name = "nj"});
        now.estate.hosts.add({.id = "h-a",
                              .zone = "nj",
                              .phase = HostPhase::ready,
                              .facts = testing::DeskRig::facts_of("a", 1, "NVIDIA Foo 9 24GB")});
        (void)commit();
        timers.advance(10'000s);
    }
    static Task<api::Reply> wrapped(const api::Handlers& handlers, api::Inquiry inquiry, api::Caller caller) {
        co_return co_await handlers.answer(std::move(inquiry), std::move(caller), nullptr);
    }
    std::optional<api::Reply> ask(const std::string& target, const std::string& tenant = "") {
        auto caller = caller_for(tenant);
        auto answer =
            try_run(loop, wrapped(api.handlers(), {.method = "GET", .target = target}, std::move(caller)));
        if (!answer) return std::nullopt;
        return std::move(**answer);
    }
    // The one that the store was asked.
    series::Query asked(const std::string& query, const std::string& tenant = "") {
        series.asked.clear();
        const auto reply = ask("/v1/series?" + query, tenant);
        EXPECT_EQ(reply->status, 200) << reply->body;
        EXPECT_EQ(series.asked.size(), 1u);
        return series.asked.empty() ? series::Query{} : series.asked.front();
    }
    std::vector<std::string> wrong(const std::string& query) {
        const auto reply = ask("/v1/series?" + query);
        EXPECT_EQ(reply->status, 400) << reply->body;
        std::vector<std::string> fields;
        const json::value problem = json::parse(reply->body);
        for (const auto& error : problem.at("errors").as_array())
            fields.push_back(std::string{error.at("field").as_string()});
        return fields;
    }
    Api api{lead};
};

TEST_F(SeriesApi, AsksForTheLastHourWithRoundSteps) {
    const series::Query query = asked("metric=gpu_utilization");
    EXPECT_EQ(query.metric, "gpu_utilization_percent");
    EXPECT_EQ(query.over, Over::avg);
    EXPECT_EQ(query.across, Across::none);
    EXPECT_EQ(query.to, series_millis(timers.wall()));
    EXPECT_EQ(query.from % query.step, 0);
    EXPECT_GE(query.to - query.from, 3'600'000);
    EXPECT_LE((query.to - query.from) / query.step, 200);
}

TEST_F(SeriesApi, CountersAreToldARate) {
    EXPECT_EQ(asked("metric=gpu_energy_mj").over, Over::rate);
    const auto query = asked("metric=host_network_sent&by=zone&over=increase");
    EXPECT_EQ(query.over, Over::increase);
    EXPECT_EQ(query.across, Across::sum);
    const auto answer = json::parse(ask("/v1/series?metric=gpu_energy")->body);
    EXPECT_EQ(answer.at("unit"), "mJ/s");
}

TEST_F(SeriesApi, TakesAllThatAQueryMaySay) {
    const auto query = asked(
        "metric=gpu_power&where=zone%3Dlon,nj%20tenant!%3Dacme&from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:"
        "00Z"
        "&step=300&over=quantile%3D0.95&across=max&by=tenant,zone&top=5");
    ASSERT_EQ(query.where.size(), 2u);
    EXPECT_EQ(query.where[0].label, "zone");
    EXPECT_THAT(query.where[0].values, ElementsAre("lon", "nj"));
    EXPECT_EQ(query.where[1].label, "tenant");
    EXPECT_TRUE(query.where[1].differs);
    EXPECT_EQ(query.step, 300'000);
    EXPECT_EQ(query.to - query.from, 3'600'000);
    EXPECT_EQ(query.over, Over::quantile);
    EXPECT_EQ(query.over_quantile, 0.95);
    EXPECT_EQ(query.across, Across::max);
    EXPECT_THAT(query.by, ElementsAre("tenant", "zone"));
    EXPECT_EQ(query.top, 5u);
}

TEST_F(SeriesApi, AModelIsMeantByItsWords) {
    EXPECT_THAT(asked("metric=gpu_power&where=model%3Dfoo").where[0].values,
                ElementsAre("NVIDIA Foo 9 24GB"));
    EXPECT_THAT(asked("metric=gpu_power&where=model%3Dh100").where[0].values, Contains("H100 SXM5 80GB"));
    EXPECT_THAT(asked("metric=gpu_power&where=class%3Dh100").where[0].values, ElementsAre("H100"));
    EXPECT_THAT(asked("metric=gpu_power&where=model%3Dnone").where[0].values, ElementsAre("none"));
}

TEST_F(SeriesApi, ATenantSeesWhatItsOwnInstancesHeld) {
    for (const std::string where : {"", "&where=tenant%3Dglobex", "&where=tenant!%3Dacme"}) {
        const auto query = asked("metric=gpu_power" + where, "acme");
        const auto& forced = query.where.back();
        EXPECT_EQ(forced.label, "tenant");
        EXPECT_THAT(forced.values, ElementsAre("acme"));
        EXPECT_FALSE(forced.differs);
        EXPECT_FALSE(series::matches(query, {{"tenant", "globex"}}));
        EXPECT_FALSE(series::matches(query, {}));
    }
    EXPECT_TRUE(asked("metric=gpu_power").where.empty());
}

TEST_F(SeriesApi, NamesEachWrongField) {
    EXPECT_THAT(wrong("metric=gpu_speed&where=size%3D3&over=mean&across=rate&by=colour"),
                UnorderedElementsAre("metric", "where", "over", "across", "by"));
    EXPECT_THAT(wrong("metric=gpu_power&over=rate"), ElementsAre("over"));
    EXPECT_THAT(wrong("metric=gpu_power&over=quantile%3D2&across=quantile"),
                UnorderedElementsAre("over", "across"));
    EXPECT_THAT(wrong("metric=gpu_power&by=zone,zone"), ElementsAre("by"));
    EXPECT_THAT(wrong("metric=gpu_power&by=zone&across=none"), ElementsAre("by"));
    EXPECT_THAT(wrong("metric=gpu_power&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"),
                ElementsAre("to"));
    EXPECT_THAT(wrong("metric=gpu_power&from=2026-01-01T00:00:00Z&since=60"), ElementsAre("since"));
    EXPECT_THAT(wrong("metric=gpu_power&from=2027-01-01T00:00:00Z"), ElementsAre("from"));
    EXPECT_THAT(wrong("metric=gpu_power&since=864000&step=1"), ElementsAre("step"));
    EXPECT_THAT(wrong("metric=gpu_power&step=0"), ElementsAre("step"));
    EXPECT_THAT(wrong(""), ElementsAre("metric"));
    EXPECT_TRUE(series.asked.empty());
}

TEST_F(SeriesApi, SaysWhereNothingWasMeasured) {
    series.answer = {{.labels = {{"tenant", "acme"}}, .values = {1.5, std::nan(""), 3}}};
    const auto reply = ask("/v1/series?metric=gpu_power&by=tenant");
    const auto answer = json::parse(reply->body);
    EXPECT_EQ(answer.at("metric"), "gpu_power_mw");
    EXPECT_EQ(answer.at("unit"), "mW");
    EXPECT_EQ(answer.at("across"), "avg");
    EXPECT_EQ(answer.at_pointer("/lines/0/labels/tenant"), "acme");
    EXPECT_EQ(json::serialize(answer.at_pointer("/lines/0/values")), "[1.5E0,null,3]");
}

TEST_F(SeriesApi, AnAnswerHasABound) {
    series.answer.assign(2, {.labels = {}, .values = std::vector<double>(series_values_max / 2 + 1, 1)});
    const auto reply = ask("/v1/series?metric=gpu_power");
    EXPECT_EQ(reply->status, 429);
    EXPECT_EQ(json::parse(reply->body).at("code"), "answer_too_large");
}

TEST_F(SeriesApi, SoManyAreAnsweredAtOnceAndThoseThatNobodyWaitsForCount) {
    series.hang = true;
    for (const std::string tenant : {"a", "b", "c"})
        for (int i = 0; i < 2; ++i) EXPECT_FALSE(ask("/v1/series?metric=gpu_power", tenant));
    EXPECT_EQ(ask("/v1/series?metric=gpu_power", "a")->status, 429) << "two of one tenant";
    EXPECT_FALSE(ask("/v1/series?metric=gpu_power", ""));
    EXPECT_FALSE(ask("/v1/series?metric=gpu_power", ""));
    EXPECT_EQ(ask("/v1/series?metric=gpu_power", "d")->status, 429) << "eight of all";
    EXPECT_EQ(queries_of(term()).under_way(), Queries::all_max);
    series.let_go();
    timers.settle();
    EXPECT_EQ(queries_of(term()).under_way(), 0u);
    EXPECT_EQ(ask("/v1/series?metric=gpu_power", "d")->status, 200);
    EXPECT_EQ(queries_of(term()).refused(), 2u);
}

TEST_F(SeriesApi, ListsItsMetrics) {
    const auto all = json::parse(ask("/v1/series/metrics?limit=1000")->body);
    std::size_t metrics = 0;
    for (const Measured of : all_measured) metrics += metrics_of(of).size();
    EXPECT_EQ(all.at("items").as_array().size(), metrics);
    const auto first = json::parse(ask("/v1/series/metrics?limit=5")->body);
    EXPECT_EQ(first.at("items").as_array().size(), 5u);
    EXPECT_TRUE(first.as_object().contains("nextCursor"));
}

// ── What is kept

struct Care : ::testing::Test {
    ~Care() override {
        (void)try_run(loop, tasks.close());
        timers.settle();
    }
    // A disk that is as full as what is kept of raw samples.
    struct Disk final : SeriesStore {
        Task<DeviceNumber> describe(series::Device, series::Millis) override { co_return DeviceNumber{}; }
        Task<> append(SampleBatch) override { co_return Result<>{}; }
        Task<std::vector<series::Line>> query(series::Query) override {
            co_return std::vector<series::Line>{};
        }
        Task<> keep(SeriesPolicy policy, WallTime) override {
            kept.push_back(policy);
            co_return Result<>{};
        }
        Task<> flush() override { co_return Result<>{}; }
        Task<SeriesStats> stats() override {
            SeriesStats stats;
            if (!kept.empty())
                stats.disk_bytes = static_cast<std::uint64_t>(
                    least + std::chrono::duration_cast<std::chrono::hours>(kept.back().raw).count());
            co_return stats;
        }
        std::vector<SeriesPolicy> kept;
        std::int64_t least = 0;
    };
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    Settings settings;
    Disk disk;
    TaskGroup tasks{loop};
};

TEST_F(Care, TakesOutWhatTheOperatorSaysNowAndThen) {
    SeriesCare care{timers, disk, settings};
    tasks.start("care", care.run());
    timers.advance(31min);
    EXPECT_EQ(disk.kept.size(), 4u);
    EXPECT_EQ(disk.kept.back().raw, settings.series_kept.raw);
    EXPECT_FALSE(care.too_large());
    (void)try_run(loop, tasks.close());
}

TEST_F(Care, GivesUpTheOldestWhereThereIsNoRoom) {
    settings.series_disk_max = 100;
    SeriesCare care{timers, disk, settings};
    tasks.start("care", care.run());
    timers.advance(2min);
    EXPECT_LE(disk.kept.back().raw, 100h);
    EXPECT_GT(disk.kept.back().raw, 60h) << "and no more than need be";
    EXPECT_EQ(disk.kept.back().minute, settings.series_kept.minute);
    EXPECT_FALSE(care.too_large());
    EXPECT_EQ(care.given_up(), 1u);
    (void)try_run(loop, tasks.close());
}

TEST_F(Care, SaysWhenNothingIsLeftToGiveUp) {
    settings.series_disk_max = 100;
    disk.least = 1000;
    SeriesCare care{timers, disk, settings};
    tasks.start("care", care.run());
    timers.advance(2min);
    EXPECT_TRUE(care.too_large());
    EXPECT_FALSE(tighter(disk.kept.back()));
    (void)try_run(loop, tasks.close());
}

}  // namespace
}  // namespace hostler::master

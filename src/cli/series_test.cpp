// `hostler metrics`: what is asked, and how the answer is shown.
#include "cli/series.h"

#include "api/operations_series.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MetricsTest : public CliTest {
protected:
    MetricsTest() {
        api.handlers.on<api::ops::query_series>([this](api::Call,
                                                       api::QuerySeries request) -> Task<api::SeriesAnswer> {
            asked = request;
            api::SeriesAnswer answer{
                .metric = "gpu_utilization_percent", .unit = "%", .over = "avg", .across = "avg"};
            answer.from = timers.wall();
            answer.to = answer.from + 40s;
            answer.step = 10;
            answer.lines = {{.labels = {{"tenant", "acme"}, {"zone", "nj"}}, .values = {0, 50, {}, 100}},
                            {.labels = {{"tenant", "globex"}, {"zone", "nj"}}, .values = {{}, {}, {}, {}}}};
            co_return answer;
        });
    }
    api::QuerySeries asked;
};

TEST_F(MetricsTest, AQueryIsALine) {
    EXPECT_EQ(run({"metrics", "query", "gpu_utilization", "--where", "zone=nj", "--by", "tenant", "--since",
                   "24h", "--step", "5m", "--over", "max", "--top", "3"}),
              0)
        << err;
    EXPECT_EQ(asked.metric, "gpu_utilization");
    EXPECT_EQ(asked.where, "zone=nj");
    EXPECT_EQ(asked.by, "tenant");
    EXPECT_EQ(asked.since, 86'400);
    EXPECT_EQ(asked.step, 300);
    EXPECT_EQ(asked.over, "max");
    EXPECT_EQ(asked.top, 3);
}

TEST_F(MetricsTest, ATableShowsWhatTellsLinesApartAndAPicture) {
    EXPECT_EQ(run({"metrics", "query", "gpu_utilization"}), 0) << err;
    EXPECT_EQ(out,
              "TENANT  LAST  MIN  AVG  MAX  gpu_utilization_percent in % avg, 10 s a step\n"
              "acme     100    0   50  100  ▁▅ █\n"
              "globex     -    -    -    -\n");
    EXPECT_EQ(run({"metrics", "query", "gpu_utilization", "-o", "csv"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("time,gpu_utilization_percent,tenant,zone\n"));
    EXPECT_THAT(out, HasSubstr(",50,acme,nj\n"));
    EXPECT_EQ(run({"metrics", "query", "gpu_utilization", "-o", "json"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("null"));
}

api::SeriesAnswer of_devices(std::string metric, std::string unit, double value) {
    api::SeriesAnswer answer{
        .metric = std::move(metric), .unit = std::move(unit), .over = "avg", .across = "none"};
    answer.step = 10;
    for (const std::string gpu : {"GPU-0", "GPU-1"})
        answer.lines.push_back({.labels = {{"gpu", gpu},
                                           {"device", gpu},
                                           {"host", "h-1"},
                                           {"host_name", "n1"},
                                           {"pci", "0000:" + gpu},
                                           {"class", "H100"}},
                                .values = {value, 2 * value}});
    return answer;
}

TEST(SeriesTable, NumbersAndUnitsAreForPeople) {
    EXPECT_EQ(series_table(of_devices("gpu_power_mw", "mW", 69'350), 0),
              "GPU     LAST    MIN  AVG    MAX  gpu_power_mw in W avg, 10 s a step\n"
              "GPU-0  138.7  69.35  104  138.7  ▅█\n"
              "GPU-1  138.7  69.35  104  138.7  ▅█\n");
    EXPECT_THAT(series_table(of_devices("gpu_memory_used_bytes", "B", 80.0 * (1 << 30)), 0),
                HasSubstr("160 GiB  80 GiB  120 GiB  160 GiB  "));
    EXPECT_THAT(series_table(of_devices("x", "", 123'456'789), 0), HasSubstr("  123456789  "));
}

TEST(SeriesTable, IsAsWideAsTheTerminal) {
    auto answer = of_devices("x", "", 1);
    for (auto& line : answer.lines) line.values.assign(200, 1.0);
    const auto width = [&](int columns) {
        const std::string table = series_table(answer, columns);
        const std::string last = table.substr(table.rfind('\n', table.size() - 2) + 1);
        return std::ranges::count_if(last,
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }) -
               1;
    };
    EXPECT_EQ(width(60), 60);
    EXPECT_EQ(width(200), 28 + 48) << "a picture has its greatest width";
    EXPECT_EQ(width(10), 28 + 8) << "and its least";
}

TEST_F(MetricsTest, WhatIsWrongIsNamed) {
    EXPECT_EQ(run({"metrics", "query", "gpu_speed", "--over", "mean"}), 2);
    EXPECT_THAT(err, HasSubstr("there is no metric 'gpu_speed'"));
    EXPECT_THAT(err, HasSubstr("'mean' is none of"));
}

TEST(Sparkline, HasAsManyLettersAsThereIsRoom) {
    const std::vector<std::optional<double>> rising{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(sparkline(rising, 8, 0, 8), "▁▂▃▄▅▆▇█");
    EXPECT_EQ(sparkline(rising, 4, 0, 8), "▁▃▅▇");
    EXPECT_EQ(sparkline(rising, 100, 0, 0), "▁▁▁▁▁▁▁▁") << "nothing to be seen of no range";
    EXPECT_EQ(sparkline({{}, 1, {}}, 3, 0, 1), " █ ");
    EXPECT_EQ(sparkline({}, 8, 0, 1), "");
}

}  // namespace
}  // namespace hostler::cli

// `hostler metrics`: what is asked, and how the answer is shown.
#include "cli/series.h"

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

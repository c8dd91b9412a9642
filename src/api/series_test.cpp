#include <gtest/gtest.h>

#include "api/codec.h"
#include "api/series_words.h"
#include "api/types_series.h"

namespace hostler::api {
namespace {

SeriesAnswer answer() {
    SeriesAnswer made{.metric = "gpu_power_mw", .unit = "mW", .over = "avg", .across = "avg"};
    made.from = WallTime{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
    made.to = made.from + std::chrono::seconds{30};
    made.step = 10;
    made.lines = {{.labels = {{"tenant", "acme"}}, .values = {1.5, std::nullopt, 3}},
                  {.labels = {{"tenant", "a \"b\", c"}, {"zone", "nj"}}, .values = {std::nullopt, 2, 2}}};
    return made;
}

TEST(Series, AreReadAgainWithTheirGaps) {
    const auto read = decode_stored<SeriesAnswer>(encode(answer()));
    ASSERT_TRUE(read);
    ASSERT_EQ(read->lines.size(), 2u);
    EXPECT_EQ(read->lines[0].values, answer().lines[0].values);
    EXPECT_EQ(read->lines[1].values, answer().lines[1].values);
}

TEST(Series, AsCsvHaveALineForEachValue) {
    EXPECT_EQ(csv_of(answer()),
              "time,gpu_power_mw,tenant,zone\n"
              "2026-01-01T00:00:00Z,1.5,acme,\n"
              "2026-01-01T00:00:20Z,3,acme,\n"
              "2026-01-01T00:00:10Z,2,\"a \"\"b\"\", c\",nj\n"
              "2026-01-01T00:00:20Z,2,\"a \"\"b\"\", c\",nj\n");
}

TEST(Series, WordsAreReadAsTheyAreWritten) {
    EXPECT_EQ(over_of("quantile=0.25")->quantile, 0.25);
    EXPECT_EQ(over_of("increase")->over, series::Over::increase);
    EXPECT_EQ(across_of("")->across, series::Across::none);
    for (const char* bad : {"mean", "avg=1", "quantile", "quantile=", "quantile=x", "quantile=-1",
                            "quantile=nan", "quantile=0.5x", "=", "quantile=1.5"})
        EXPECT_FALSE(over_of(bad)) << bad;
    EXPECT_FALSE(across_of("rate"));
    EXPECT_EQ(labels_of("tenant,zone")->size(), 2u);
    for (const char* bad : {"device", "tenant,,zone", "tenant,tenant", " tenant"})
        EXPECT_FALSE(labels_of(bad)) << bad;
    const auto said = [](const char* label) { return labels_of(label).error().message; };
    EXPECT_EQ(said("zoen"), "there is no label 'zoen'; did you mean 'zone'?");
    EXPECT_EQ(said("hosts"), "there is no label 'hosts'; did you mean 'host'?");
    EXPECT_EQ(said("host_nam"), "there is no label 'host_nam'; did you mean 'host_name' or 'host'?");
    EXPECT_TRUE(said("colour").starts_with("there is no label 'colour'; there are zone, host,"))
        << said("colour");
}

}  // namespace
}  // namespace hostler::api

#include "core/metrics.h"

#include <gtest/gtest.h>

#include "core/testing/metrics.h"

namespace hostler {
namespace {

using enum MetricsPage::Type;
using testing::parse_metrics;

TEST(MetricsPage, IsReadByAStrictReader) {
    MetricsPage page;
    page.add_bounded("hostler_test_things", "Things.", std::size_t{3}, 10u);
    page.begin("hostler_test_refused_total", "Refused.", counter);
    page.value({{"why", "a \"quote\", a \\ and\na line"}, {"who", "me"}}, 7);
    page.value({{"why", "late"}, {"who", ""}}, -0);
    write_process_metrics(page);
    const auto values = parse_metrics(page.text());
    ASSERT_TRUE(values) << values.error().message;
    EXPECT_EQ(values->at("hostler_test_things"), 3);
    EXPECT_EQ(values->at("hostler_test_things_max"), 10);
    EXPECT_EQ(values->at(R"(hostler_test_refused_total{why="a \"quote\", a \\ and\na line",who="me"})"), 7);
    EXPECT_GT(values->at("process_resident_memory_bytes"), 1 << 20);
    EXPECT_GT(values->at("process_open_fds"), 2);
    EXPECT_LE(values->at("process_open_fds"), values->at("process_max_fds"));
}

TEST(MetricsPage, TheReaderIsStrict) {
    const std::string good = "# HELP a Help.\n# TYPE a gauge\n";
    EXPECT_TRUE(parse_metrics(good + "a 1\n"));
    for (const char* bad : {"a 1", "b 1\n", "a x\n", "a 1\na 1\n", "a{b=\"c\"}1\n", "a{b=\"c} 1\n",
                            "a{b=c} 1\n", "a{=\"c\"} 1\n", "a{b=\"\\c\"} 1\n", "a 1 \n", "# HELP a Again.\n",
                            "# TYPE b counter\n", "# HELP b_total Help.\n", "\n"})
        EXPECT_FALSE(parse_metrics(good + bad)) << bad;
    EXPECT_FALSE(parse_metrics("# HELP a_total Help.\n# TYPE a_total gauge\n"));
    EXPECT_FALSE(parse_metrics("# HELP a Help.\n# TYPE a counter\n"));
}

}  // namespace
}  // namespace hostler

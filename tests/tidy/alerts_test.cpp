// The page of alerts says what the rules say.
#include <gtest/gtest.h>

#include "domain/alert/defaults.h"
#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

TEST(Alerts, ThePageIsOfTheseRules) {
    const std::string document = read("docs/operate/alerts.md");
    const auto written = alert::with_tables(document);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(*written, document) << "docs/operate/alerts.md is stale: run ./dev gen";
    EXPECT_NE(document.find("`gpu-hot`"), document.npos);
}

}  // namespace
}  // namespace hostler::tidy

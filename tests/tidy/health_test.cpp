// The page of faults says what the tables say.
#include "domain/health/page.h"

#include <gtest/gtest.h>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

TEST(Health, ThePageOfFaultsIsOfTheseTables) {
    const std::string document = read("docs/operate/gpu-health.md");
    const auto written = health::with_tables(document);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(*written, document) << "docs/operate/gpu-health.md is stale: run ./dev gen";
    EXPECT_NE(document.find("fallen off the bus"), document.npos);
}

TEST(Health, ATableThatIsNotOrHasNoEndIsFound) {
    EXPECT_FALSE(health::with_tables("<!-- health: moods -->\n<!-- /health -->"));
    EXPECT_FALSE(health::with_tables("<!-- health: xid -->\n"));
    EXPECT_EQ(health::with_tables("nothing").value(), "nothing");
}

}  // namespace
}  // namespace hostler::tidy

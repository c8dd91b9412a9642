#include "domain/lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Lives, EachIsDrawnFromItsRows) {
    const auto host = draw_life("host").value();
    EXPECT_THAT(host, HasSubstr("| `unreachable` | report → `ready` · long_silence → `lost` · remove → "
                                "`retired` |\n"));
    EXPECT_THAT(host, HasSubstr("| `retired` | final |\n"));
    EXPECT_THAT(host, HasSubstr("    [*] --> joining\n"));
    EXPECT_THAT(host, HasSubstr("    ready --> unreachable: silence\n"));
    EXPECT_THAT(host, HasSubstr("    retired --> [*]\n"));
    EXPECT_THAT(draw_life("instance").value(),
                HasSubstr("    running --> failed: fail, absent, host_gone\n"));
    EXPECT_THAT(draw_life("instance").value(), HasSubstr(" → `lost` | `running` |\n"));
    EXPECT_THAT(draw_life("command").value(), HasSubstr("    running --> done: succeed\n"));
    for (const auto name : life_names()) EXPECT_THAT(draw_life(name).value(), Not(HasSubstr(": \n"))) << name;
    EXPECT_EQ(draw_life("horse").error().code, Code::not_found);
}

TEST(Lives, OnlyWhatStandsBetweenTheMarksIsWritten) {
    const auto drawn = "<!-- life: host -->\n\n" + draw_life("host").value() + "\n<!-- /life -->";
    const auto made = with_lives(
                          "before\n<!-- life: host -->\nstale\n<!-- /life -->\nbetween\n"
                          "<!-- life: command -->\n<!-- /life -->\nafter\n")
                          .value();
    EXPECT_TRUE(made.starts_with("before\n" + drawn + "\nbetween\n<!-- life: command -->\n"));
    EXPECT_TRUE(made.ends_with("<!-- /life -->\nafter\n"));
    EXPECT_THAT(made, Not(HasSubstr("stale")));
    EXPECT_EQ(with_lives(made), made);
    EXPECT_EQ(with_lives("none\n"), "none\n");
}

TEST(Lives, BadMarksAreTold) {
    EXPECT_EQ(with_lives("<!-- life: host -->\n").error().code, Code::invalid);
    EXPECT_EQ(with_lives("<!-- life: horse -->\n<!-- /life -->\n").error().code, Code::not_found);
}

}  // namespace
}  // namespace hostler

#include "core/log_lines.h"

#include <gmock/gmock.h>

namespace hostler {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

TEST(LogLines, EachHasItsTime) {
    const WallTime at = *parse_rfc3339("2026-11-21T11:40:29Z");
    EXPECT_THAT(
        log_lines("2026-11-21T11:40:29Z a\n2026-11-21T11:40:30.000000001Z  b c\nd\n2026-11-21T11:40:31Z e"),
        ElementsAre(LogLine{at, "a\n"}, LogLine{at + seconds{1}, " b c\n"}, LogLine{at + seconds{1}, "d\n"},
                    LogLine{at + seconds{2}, "e"}));
    EXPECT_THAT(log_lines(""), ElementsAre());
}

TEST(LogLines, ALineWhoseBeginningWasCutOffIsLeftOut) {
    EXPECT_EQ(without_times("9Z cut\n2026-11-21T11:40:29Z whole\n"), "whole\n");
    EXPECT_EQ(without_times("none of them\nhas one\n"), "");
}

TEST(LogLines, WhatIsWrittenIsReadBack) {
    const WallTime at = *parse_rfc3339("2026-11-21T11:40:29.5Z");
    const std::string line = with_time(at, "x y\n");
    EXPECT_EQ(line, "2026-11-21T11:40:29.500000Z x y\n");
    EXPECT_THAT(log_lines(line), ElementsAre(LogLine{at, "x y\n"}));
}

}  // namespace
}  // namespace hostler

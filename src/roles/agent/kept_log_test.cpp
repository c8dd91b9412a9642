#include "roles/agent/kept_log.h"

#include <gtest/gtest.h>

namespace hostler::agent {
namespace {

const WallTime moment = *parse_rfc3339("2026-11-21T11:40:29Z");

std::string text(std::string_view kept, const LogsWanted& wanted) {
    return text_of(log_pieces(read_kept(kept, wanted).pieces));
}

TEST(KeptLog, IsReadAsTheLogWas) {
    LogPart log;
    append_piece(log.pieces, {moment, "a\n"});
    append_piece(log.pieces, {moment, "\xff 10%\r"});
    const std::string kept = kept_log(log);
    EXPECT_EQ(text(kept, {.bytes_max = 100}), "a\n\xff 10%\r");
    EXPECT_EQ(text(kept, {.bytes_max = 100, .lines_max = 1}), "\xff 10%\r");
    EXPECT_FALSE(read_kept(kept, {.bytes_max = 100}).truncated);
    EXPECT_EQ(end_of_kept(kept), (LogPlace{moment, 2}));
    EXPECT_EQ(text(kept, {.bytes_max = 100, .after = LogPlace{moment, 1}}), "\xff 10%\r");
    log.truncated = true;
    EXPECT_TRUE(read_kept(kept_log(log), {.bytes_max = 100}).truncated);
}

TEST(KeptLog, OfAnOlderAgentIsReadToo) {
    const std::string timed =
        "\x01hostler: lines with times\n2026-11-21T11:40:29Z a\n2026-11-21T11:40:30Z b\n";
    EXPECT_EQ(text(timed, {.bytes_max = 100}), "a\nb\n");
    EXPECT_EQ(text(timed, {.bytes_max = 100, .since = moment + std::chrono::seconds{1}}), "b\n");
    EXPECT_EQ(text("a\nb", {.bytes_max = 100, .lines_max = 1}), "b");
}

}  // namespace
}  // namespace hostler::agent

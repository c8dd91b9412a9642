#include "core/log_lines.h"

#include <gmock/gmock.h>

namespace hostler {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

const WallTime at = *parse_rfc3339("2026-11-21T11:40:29Z");

std::vector<LogPiece> every(std::initializer_list<std::pair<int, std::string_view>> written) {
    std::vector<LogPiece> log;
    for (const auto& [second, text] : written) log.push_back({at + seconds{second}, text});
    return log;
}

std::string text_of(const LogPart& part) { return text_of(log_pieces(part.pieces)); }

TEST(LogPieces, AreReadAsTheyAreWritten) {
    const auto log = every({{0, "hello\n"}, {0, ""}, {1, " 10%\r 20%\r"}, {2, "\xff\0 x\n"}, {3, "\n"}});
    std::string written;
    for (const LogPiece& piece : log) append_piece(written, piece);
    EXPECT_TRUE(written.starts_with("1795261229000000 F hello\n1795261229000000 P \n")) << written;
    EXPECT_EQ(log_pieces(written), log);
    EXPECT_THAT(
        log_pieces("cut F off\n1795261229000000 X a\n\n1795261229000000 F\n1795261229000000 F whole\n1 P"),
        ElementsAre(LogPiece{at, "whole\n"}));
}

TEST(LogPieces, StandardErrorIsKnownAndCanBeHidden) {
    const std::vector<LogPiece> log{{at, "E a\n"}, {at, "b", true}, {at, "1 E c\n", true}};
    std::string written;
    for (const LogPiece& piece : log) append_piece(written, piece);
    EXPECT_EQ(written, "1795261229000000 F E a\n1795261229000000 e b\n1795261229000000 E 1 E c\n");
    EXPECT_EQ(log_pieces(written), log);
    EXPECT_EQ(without_streams(written),
              "1795261229000000 F E a\n1795261229000000 P b\n1795261229000000 F 1 E c\n");
    for (const auto* odd : {"", "1", "1 ", " E", "\n\n", "1 E"})
        EXPECT_EQ(without_streams(odd).size(), std::string_view{odd}.size());
}

TEST(LogPieces, PlacesAreText) {
    EXPECT_EQ(to_text({at, 3}), "1795261229000000.3");
    EXPECT_EQ(parse_log_place("1795261229000000.3"), (LogPlace{at, 3}));
    for (const auto* wrong : {"", "1", "1.", ".1", "1.1x", "-1.1", "1.-1", "yesterday"})
        EXPECT_FALSE(parse_log_place(wrong)) << wrong;
}

TEST(LogPart, TheLastLinesAreWholeHoweverManyPiecesTheyHave) {
    const auto log = every({{0, "a\n"}, {1, "b"}, {2, "c"}, {3, "d\n"}, {4, "10%\r"}});
    const auto last = [&](std::size_t lines) {
        return log_part(log, true, {.bytes_max = 1000, .lines_max = lines});
    };
    EXPECT_EQ(text_of(last(1)), "10%\r") << "what has no line break yet is a line";
    EXPECT_EQ(text_of(last(2)), "bcd\n10%\r");
    EXPECT_TRUE(last(2).truncated);
    EXPECT_FALSE(last(2).inside);
    EXPECT_EQ(text_of(last(3)), "a\nbcd\n10%\r");
    EXPECT_FALSE(last(3).truncated);
    EXPECT_EQ(last(1).next, (LogPlace{at + seconds{4}, 1}));
    EXPECT_TRUE(log_part(log, false, {.bytes_max = 1000}).truncated);
    const auto cut = log_part(log, true, {.bytes_max = 50});
    EXPECT_EQ(text_of(cut), "d\n10%\r");
    EXPECT_TRUE(cut.truncated && cut.inside);
}

TEST(LogPart, OfAPieceLongerThanTheAnswerItIsTheEnd) {
    const std::string line = std::string(100, 'x') + "end\n";
    const auto log = every({{0, line}});
    const auto part = log_part(log, true, {.bytes_max = 24});
    EXPECT_EQ(text_of(part), "end\n");
    EXPECT_TRUE(part.truncated && part.inside);
    const auto followed = log_part(log, true, {.bytes_max = 24, .after = LogPlace{}});
    EXPECT_EQ(text_of(followed), "end\n");
    EXPECT_TRUE(followed.truncated);
    EXPECT_EQ(followed.next, (LogPlace{at, 1}));
}

TEST(LogPart, SinceLeavesOutWhatIsOlder) {
    const auto log = every({{0, "a\n"}, {1, "b\n"}, {2, "c\n"}});
    const auto since = [&](int second, bool whole = false) {
        return log_part(log, whole, {.bytes_max = 1000, .since = at + seconds{second}});
    };
    EXPECT_EQ(text_of(since(1)), "b\nc\n");
    EXPECT_FALSE(since(1).truncated);
    EXPECT_EQ(text_of(since(-1)), "a\nb\nc\n");
    EXPECT_TRUE(since(-1).truncated) << "what was before is not there any more";
    EXPECT_EQ(text_of(since(3)), "");
    EXPECT_EQ(since(3).next, (LogPlace{at + seconds{2}, 1}));
    EXPECT_EQ(log_part({}, true, {.bytes_max = 1000}).next, LogPlace{});
}

TEST(LogPart, WhatFollowsComesOnceAndInOrder) {
    auto log = every({{0, "a\n"}, {1, "b\n"}, {1, "c\n"}, {1, "d"}, {2, "e\n"}, {3, "f\n"}});
    const auto after = [&](LogPlace place, std::size_t lines = 10) {
        return log_part(log, true, {.bytes_max = 1000, .lines_max = lines, .after = place});
    };
    EXPECT_EQ(text_of(after({})), "a\nb\nc\nde\nf\n");
    EXPECT_EQ(text_of(after({at + seconds{1}, 2})), "de\nf\n");
    EXPECT_FALSE(after({at + seconds{1}, 2}).inside);
    EXPECT_EQ(text_of(after({at + seconds{1}, 3})), "e\nf\n");
    EXPECT_TRUE(after({at + seconds{1}, 3}).inside);
    // The first ones of many, and then the next.
    EXPECT_EQ(text_of(after({}, 2)), "a\nb\n");
    EXPECT_EQ(after({}, 2).next, (LogPlace{at + seconds{1}, 1}));
    EXPECT_EQ(text_of(after(after({}, 2).next, 2)), "c\nde\n");
    EXPECT_EQ(text_of(after({at + seconds{3}, 1})), "");
    EXPECT_EQ(after({at + seconds{3}, 1}).next, (LogPlace{at + seconds{3}, 1}));
    // A clock that was set back hides nothing.
    log.push_back({at + seconds{1}, "g\n"});
    EXPECT_EQ(text_of(after({at + seconds{3}, 1})), "g\n");
}

TEST(LogPart, WhatIsLostBehindAPlaceIsTold) {
    const auto log = every({{5, "f\n"}, {6, "g\n"}});
    const auto after = [&](LogPlace place, bool whole) {
        return log_part(log, whole, {.bytes_max = 1000, .after = place});
    };
    EXPECT_EQ(text_of(after({at, 1}, false)), "f\ng\n");
    EXPECT_TRUE(after({at, 1}, false).truncated);
    EXPECT_TRUE(after({at, 1}, true).truncated) << "another container's, by now";
    EXPECT_FALSE(after({at, 0}, true).truncated);
    EXPECT_TRUE(after({at, 0}, false).truncated);
    EXPECT_FALSE(after({at + seconds{5}, 1}, false).truncated);
}

TEST(LogPart, TheEndOfALogSufficesWhenMoreOfItCouldChangeNothing) {
    const auto log = every({{0, "a\n"}, {1, "b\n"}, {2, "c\n"}, {2, "d\n"}});
    const auto suffices = [&](LogsWanted wanted) { return log_suffices(log, wanted); };
    EXPECT_TRUE(suffices({.bytes_max = 1000, .lines_max = 3}));
    EXPECT_FALSE(suffices({.bytes_max = 1000, .lines_max = 4}));
    EXPECT_TRUE(suffices({.bytes_max = 50}));
    EXPECT_TRUE(suffices({.bytes_max = 1000, .since = at + seconds{1}}));
    EXPECT_FALSE(suffices({.bytes_max = 1000, .since = at}));
    EXPECT_TRUE(suffices({.bytes_max = 1000, .after = LogPlace{at + seconds{1}, 1}}));
    EXPECT_FALSE(suffices({.bytes_max = 1000, .after = LogPlace{at, 1}}));
    EXPECT_FALSE(log_suffices(every({{2, "c\n"}, {2, "d\n"}}), {.bytes_max = 1000, .lines_max = 1}))
        << "how many have this time is not known";
}

TEST(LogLines, EachHasItsTime) {
    EXPECT_THAT(
        log_lines("2026-11-21T11:40:29Z a\n2026-11-21T11:40:30.000000001Z  b c\nd\n2026-11-21T11:40:31Z e"),
        ElementsAre(LogPiece{at, "a\n"}, LogPiece{at + seconds{1}, " b c\n"},
                    LogPiece{at + seconds{1}, "d\n"}, LogPiece{at + seconds{2}, "e"}));
    EXPECT_THAT(log_lines(""), ElementsAre());
}

TEST(LogLines, ALineWhoseBeginningWasCutOffIsLeftOut) {
    EXPECT_THAT(log_lines("9Z cut\n2026-11-21T11:40:29Z whole\n"), ElementsAre(LogPiece{at, "whole\n"}));
    EXPECT_THAT(log_lines("none of them\nhas one\n"), ElementsAre());
}

TEST(LogLines, WhatIsWrittenIsReadBack) {
    const WallTime half = *parse_rfc3339("2026-11-21T11:40:29.5Z");
    const std::string line = with_time(half, "x y\n");
    EXPECT_EQ(line, "2026-11-21T11:40:29.500000Z x y\n");
    EXPECT_THAT(log_lines(line), ElementsAre(LogPiece{half, "x y\n"}));
}

}  // namespace
}  // namespace hostler

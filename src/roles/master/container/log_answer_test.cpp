// Lines that a host sent, as they are answered.
#include "roles/master/container/log_answer.h"

#include <gmock/gmock.h>

#include "api/types_log.h"
#include "proto/uplink.pb.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;

const WallTime asked_at = *parse_rfc3339("2026-11-21T12:00:00Z");

uplink::LogAnswer sent(std::string pieces, std::string next = "1795262350000000.1") {
    uplink::LogAnswer answer;
    answer.set_pieces(std::move(pieces));
    answer.set_next(std::move(next));
    return answer;
}

// Of an agent that does not know pieces.
uplink::LogAnswer sent_lines(std::string text, bool truncated = false, bool timed = true) {
    uplink::LogAnswer answer;
    answer.set_text(std::move(text));
    answer.set_truncated(truncated);
    answer.set_timed(timed);
    return answer;
}

constexpr std::string_view three_lines =
    "2026-11-21T11:40:29Z a\n2026-11-21T11:59:10Z b\n2026-11-21T11:59:10Z c\n";

TEST(LogAnswer, TheHostIsAskedForWhatIsWanted) {
    uplink::LogRequest ask;
    ASSERT_TRUE(ask_for_logs(ask, {.instance = "nb", .tail = 2, .since = 600}, asked_at));
    EXPECT_TRUE(ask.pieces());
    EXPECT_EQ(ask.lines(), 2U);
    EXPECT_EQ(ask.since_us(), 1'795'261'800'000'000U);
    EXPECT_EQ(ask.since_s(), 1'795'261'800U);
    EXPECT_TRUE(ask.timed());
    ASSERT_TRUE(ask_for_logs(ask, {.instance = "nb", .after = "1795262350000000.1"}, asked_at));
    EXPECT_EQ(ask.after(), "1795262350000000.1");
    const auto wrong = ask_for_logs(ask, {.instance = "nb", .after = "yesterday"}, asked_at);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::invalid);
}

TEST(LogAnswer, OneOfTheStreamsMayBeAskedFor) {
    const std::string pieces = "1795262350000000 F a\n1795262350000000 E b\n1795262350000000 e c\n";
    const auto text = [&](api::LogStream stream) {
        return log_answer(sent(pieces), {.instance = "nb", .follow = true, .stream = stream}, asked_at);
    };
    EXPECT_EQ(text(api::LogStream::both)->text, "a\nb\nc");
    EXPECT_EQ(text(api::LogStream::out)->text, "a\n");
    EXPECT_EQ(text(api::LogStream::err)->text, "b\nc");
    EXPECT_EQ(text(api::LogStream::out)->next, "1795262350000000.1") << "the place is of both";
}

TEST(LogAnswer, PiecesOfALineAreOneLineAndEveryCharacterStays) {
    const std::string_view pieces =
        "1795262350000000 F a\n1795262350000000 P b\n1795262350000001 F c\x1b[31m\n1795262350000002 P "
        "10%\r\n";
    const auto logs = *log_answer(sent(std::string{pieces}), {.instance = "nb"}, asked_at);
    EXPECT_EQ(logs.text, "a\nbc\x1b[31m\n10%\r");
    EXPECT_EQ(logs.base64, "");
    EXPECT_EQ(logs.next, "");
    EXPECT_FALSE(logs.truncated);
    api::GetLogs request{.instance = "nb", .timestamps = true, .follow = true};
    auto answer = sent(std::string{pieces});
    EXPECT_EQ(log_answer(uplink::LogAnswer{answer}, request, asked_at)->text,
              "2026-11-21T11:59:10.000000Z a\n2026-11-21T11:59:10.000000Z bc\x1b[31m\n"
              "2026-11-21T11:59:10.000002Z 10%\r");
    EXPECT_EQ(log_answer(uplink::LogAnswer{answer}, request, asked_at)->next, "1795262350000000.1");
    answer.set_inside(true);
    answer.set_truncated(true);
    const auto inside = *log_answer(std::move(answer), request, asked_at);
    EXPECT_TRUE(inside.text.starts_with("a\n2026-")) << "the line has begun in an earlier answer";
    EXPECT_TRUE(inside.truncated);
}

TEST(LogAnswer, BytesThatAreNotUtf8Survive) {
    const auto logs = *log_answer(sent("1795262350000000 F \xff\xc3\xbc\n"), {.instance = "nb"}, asked_at);
    EXPECT_EQ(logs.text, "\xef\xbf\xbd\xc3\xbc\n");
    EXPECT_EQ(logs.base64, "/8O8Cg==");
}

TEST(LogAnswer, LinesOfAnOlderAgentAreReadToo) {
    const auto last =
        *log_answer(sent_lines("x\ny\nz\n", false, false), {.instance = "nb", .tail = 2}, asked_at);
    EXPECT_EQ(last.text, "y\nz\n");
    EXPECT_TRUE(last.truncated);
    const auto told = [](const api::GetLogs& request) {
        return *log_answer(sent_lines(std::string{three_lines}), request, asked_at);
    };
    EXPECT_EQ(told({.instance = "nb", .since = 600}).text, "b\nc\n");
    EXPECT_EQ(told({.instance = "nb", .tail = 1, .since = 600}).text, "c\n");
    EXPECT_EQ(told({.instance = "nb", .tail = 1, .timestamps = true}).text,
              "2026-11-21T11:59:10.000000Z c\n");
    const auto followed = told({.instance = "nb", .tail = 2, .follow = true});
    EXPECT_EQ(followed.next, "1795262350000000.2");
    EXPECT_EQ(told({.instance = "nb", .follow = true, .after = "1795262350000000.1"}).text, "c\n");
    const auto refused =
        log_answer(sent_lines("x\n", false, false), {.instance = "nb", .follow = true}, asked_at);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "logs_without_times");
    EXPECT_THAT(refused.error().message, HasSubstr("older release"));
}

TEST(LogAnswer, WhoFollowsWhatHasNoContainerYetBeginsAtTheBeginning) {
    const api::GetLogs request{.instance = "nb", .follow = true};
    EXPECT_EQ(log_answer(uplink::LogAnswer{}, request, asked_at)->next, "0.0");
}

}  // namespace
}  // namespace hostler::master

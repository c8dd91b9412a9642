// Lines that a host sent, as they are answered.
#include "roles/master/log_answer.h"

#include <gmock/gmock.h>

#include "proto/uplink.pb.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;

const WallTime asked_at = *parse_rfc3339("2026-11-21T12:00:00Z");

uplink::LogAnswer sent_lines(std::string text, bool truncated = false, bool timed = true) {
    uplink::LogAnswer answer;
    answer.set_text(std::move(text));
    answer.set_truncated(truncated);
    answer.set_timed(timed);
    return answer;
}

constexpr std::string_view three_lines =
    "2026-11-21T11:40:29Z a\n2026-11-21T11:59:10Z b\n2026-11-21T11:59:10Z c\n";

TEST(LogAnswer, WithoutWishesItIsTheLastLinesAsTheyAre) {
    uplink::LogRequest ask;
    ASSERT_TRUE(ask_for_logs(ask, {.instance = "nb", .tail = 2}, asked_at));
    EXPECT_FALSE(ask.timed());
    EXPECT_EQ(ask.since_s(), 0U);
    const auto logs =
        *log_answer(sent_lines("x\ny\nz\n", false, false), {.instance = "nb", .tail = 2}, asked_at);
    EXPECT_EQ(logs.text, "y\nz\n");
    EXPECT_TRUE(logs.truncated);
    EXPECT_EQ(logs.next, "");
}

TEST(LogAnswer, SinceLeavesOutWhatIsOlder) {
    uplink::LogRequest ask;
    const api::GetLogs request{.instance = "nb", .since = 600};
    ASSERT_TRUE(ask_for_logs(ask, request, asked_at));
    EXPECT_TRUE(ask.timed());
    EXPECT_EQ(ask.since_s(), 1'795'261'800U);
    EXPECT_EQ(log_answer(sent_lines(std::string{three_lines}), request, asked_at)->text, "b\nc\n");
    EXPECT_EQ(log_answer(sent_lines(std::string{three_lines}), {.instance = "nb", .tail = 1, .since = 600},
                         asked_at)
                  ->text,
              "c\n");
}

TEST(LogAnswer, TimestampsAreInFront) {
    EXPECT_EQ(log_answer(sent_lines(std::string{three_lines}),
                         {.instance = "nb", .tail = 1, .timestamps = true}, asked_at)
                  ->text,
              "2026-11-21T11:59:10.000000Z c\n");
}

// Podman tells times in whole seconds: lines of a second come in two answers.
TEST(LogAnswer, WhatFollowsComesOnceAndWhole) {
    api::GetLogs request{.instance = "nb", .tail = 2, .follow = true};
    auto logs = *log_answer(sent_lines(std::string{three_lines}), request, asked_at);
    EXPECT_EQ(logs.text, "b\nc\n");
    request = {.instance = "nb", .follow = true, .after = logs.next};
    logs = *log_answer(sent_lines("2026-11-21T11:59:10Z b\n2026-11-21T11:59:10Z c\n"), request, asked_at);
    EXPECT_EQ(logs.text, "");
    EXPECT_EQ(logs.next, request.after);
    EXPECT_EQ(log_answer(sent_lines(""), request, asked_at)->next, request.after);
    logs = *log_answer(sent_lines("2026-11-21T11:59:10Z b\n2026-11-21T11:59:10Z c\n2026-11-21T11:59:10Z d\n"
                                  "2026-11-21T11:59:11Z e\n"),
                       request, asked_at);
    EXPECT_EQ(logs.text, "d\ne\n");
    EXPECT_FALSE(logs.truncated);
    request.after = logs.next;
    EXPECT_EQ(
        log_answer(sent_lines("2026-11-21T11:59:11Z e\n2026-11-21T11:59:12Z f\n"), request, asked_at)->text,
        "f\n");
    logs = *log_answer(sent_lines("9:13Z cut\n2026-11-21T11:59:13Z h\n", true), request, asked_at);
    EXPECT_EQ(logs.text, "h\n");
    EXPECT_TRUE(logs.truncated) << "more was written meanwhile than an answer holds";
    request.after.clear();
    logs = *log_answer(sent_lines(""), request, asked_at);
    EXPECT_EQ(logs.next, "0.0") << "it has written nothing yet";
    request.after = logs.next;
    EXPECT_EQ(log_answer(sent_lines(std::string{three_lines}), request, asked_at)->text, "a\nb\nc\n");
}

TEST(LogAnswer, LinesOfAnOlderAgentHaveNoTimes) {
    const auto refused =
        log_answer(sent_lines("x\n", false, false), {.instance = "nb", .follow = true}, asked_at);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "logs_without_times");
    EXPECT_THAT(refused.error().message, HasSubstr("older release"));
    uplink::LogRequest ask;
    const auto wrong = ask_for_logs(ask, {.instance = "nb", .after = "yesterday"}, asked_at);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::invalid);
}

}  // namespace
}  // namespace hostler::master

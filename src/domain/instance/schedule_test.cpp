#include "domain/instance/schedule.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

constexpr std::int64_t second = 1'000'000, minute = 60 * second, hour = 60 * minute;
constexpr std::int64_t noon = 1000 * hour;
constexpr StopManners manners{.notice_s = 900, .grace_s = 900};

RunFacts unused(std::int64_t since) { return {.ran_since = noon, .unused_since = since}; }

TEST(Schedule, OffMeansNever) {
    EXPECT_EQ(next_stop({}, unused(noon), manners), std::nullopt) << "0 is off, not at once";
}

TEST(Schedule, InactivityCountsFromTheLastUse) {
    const StopSchedule two_hours{.inactivity_s = 7200};
    EXPECT_EQ(next_stop(two_hours, unused(noon), manners),
              (NextStop{StopRule::inactivity, noon + 2 * hour, noon + 2 * hour - 15 * minute}));
    EXPECT_EQ(next_stop(two_hours, unused(noon + hour), manners)->at, noon + 3 * hour);
    EXPECT_EQ(next_stop(two_hours, {.ran_since = noon}, manners), std::nullopt) << "in use, or not known";
    EXPECT_EQ(next_stop(two_hours, {.unused_since = noon}, manners), std::nullopt) << "it does not run yet";
}

TEST(Schedule, ShortTimesHaveShortNotices) {
    EXPECT_EQ(next_stop({.inactivity_s = 40}, unused(noon), manners),
              (NextStop{StopRule::inactivity, noon + 40 * second, noon + 30 * second}));
    EXPECT_EQ(next_stop({.inactivity_s = 1}, unused(noon), manners)->notice_at, noon + second);
}

TEST(Schedule, AnOutageOfOursLeavesTimeToComeBack) {
    RunFacts facts = unused(noon);
    facts.reachable_since = noon + 5 * hour;
    EXPECT_EQ(next_stop({.inactivity_s = 7200}, facts, manners)->at, noon + 5 * hour + 15 * minute);
    EXPECT_EQ(next_stop({.inactivity_s = 60}, facts, manners)->at, noon + 5 * hour + minute)
        << "never longer than the rule's own time";
    facts.reachable_since = noon;
    EXPECT_EQ(next_stop({.inactivity_s = 7200}, facts, manners)->at, noon + 2 * hour);
}

TEST(Schedule, TheFirstRuleStopsIt) {
    const StopSchedule all{.inactivity_s = 7200, .max_run_s = 3600, .stop_at = noon + 3 * hour};
    EXPECT_EQ(next_stop(all, unused(noon), manners)->rule, StopRule::max_run);
    EXPECT_EQ(next_stop(all, unused(noon), manners)->at, noon + hour);
    EXPECT_EQ(next_stop({.inactivity_s = 7200, .stop_at = noon + hour}, unused(noon), manners),
              (NextStop{StopRule::stop_at, noon + hour, noon + 45 * minute}));
    EXPECT_EQ(next_stop(all, {}, manners),
              (NextStop{StopRule::stop_at, noon + 3 * hour, noon + 165 * minute}))
        << "a time holds whether it runs or not";
}

TEST(Schedule, WhatIsKeptIsStoppedByNothing) {
    for (const StopSchedule& rule : {StopSchedule{.inactivity_s = 60}, StopSchedule{.max_run_s = 60},
                                     StopSchedule{.stop_at = noon + minute}}) {
        StopSchedule kept = rule;
        kept.kept_until = noon + 4 * hour;
        EXPECT_EQ(next_stop(kept, unused(noon), manners)->at, noon + 4 * hour);
        kept.kept_until = noon;
        EXPECT_EQ(next_stop(kept, unused(noon), manners)->at, noon + minute) << "that is past";
    }
}

TEST(Schedule, InWords) {
    EXPECT_EQ(short_time(0), "0s");
    EXPECT_EQ(short_time(45), "45s");
    EXPECT_EQ(short_time(7200), "2h");
    EXPECT_EQ(short_time(5400), "1h 30m");
    EXPECT_EQ(short_time(90061), "1d 1h") << "two parts are enough";
    EXPECT_EQ(reason_of(StopRule::inactivity, {.inactivity_s = 5400}), "it was unused for 1h 30m");
    EXPECT_EQ(reason_of(StopRule::max_run, {.max_run_s = 60}), "it has run for 1m");
}

}  // namespace
}  // namespace hostler

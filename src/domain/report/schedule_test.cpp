#include "domain/report/schedule.h"

#include <gtest/gtest.h>

#include "core/timers.h"

namespace hostler::report {

namespace {

std::int64_t at(const std::string& time) {
    return parse_rfc3339(time + ":00Z").value().time_since_epoch().count();
}

Schedule every(Every every, std::int64_t minute, const std::string& done) {
    Schedule schedule{.every = every, .at_minute = minute};
    schedule.done_until = boundary_before(schedule, at(done));
    return schedule;
}

TEST(Schedule, BoundariesAreWhereTheCalendarHasThem) {
    const Schedule day = every(Every::day, 390, "2026-03-01T06:30");
    EXPECT_EQ(boundary_before(day, at("2026-03-01T06:30")), at("2026-03-01T06:30"));
    EXPECT_EQ(boundary_before(day, at("2026-03-01T06:29")), at("2026-02-28T06:30"));
    EXPECT_EQ(boundary_after(day, at("2026-02-28T06:30")), at("2026-03-01T06:30"));
    const Schedule week = every(Every::week, 0, "2026-11-22T00:00");
    EXPECT_EQ(boundary_before(week, at("2026-11-22T23:59")), at("2026-11-16T00:00")) << "a Sunday";
    EXPECT_EQ(boundary_before(week, at("2026-11-23T00:00")), at("2026-11-23T00:00")) << "a Monday";
    EXPECT_EQ(boundary_after(week, at("2026-12-28T00:00")), at("2027-01-04T00:00"));
    const Schedule month = every(Every::month, 60, "2026-03-01T01:00");
    EXPECT_EQ(boundary_before(month, at("2026-03-01T00:59")), at("2026-02-01T01:00"));
    EXPECT_EQ(boundary_after(month, at("2026-01-01T01:00")), at("2026-02-01T01:00"));
    EXPECT_EQ(boundary_after(month, at("2026-02-01T01:00")), at("2026-03-01T01:00"));
    EXPECT_EQ(boundary_after(month, at("2026-12-01T01:00")), at("2027-01-01T01:00"));
}

TEST(Schedule, APeriodIsDueOnceItIsOverAndHostsHaveReported) {
    Schedule schedule = every(Every::day, 0, "2026-11-20T12:00");
    EXPECT_EQ(due(schedule, at("2026-11-20T23:59")), std::nullopt);
    EXPECT_EQ(due(schedule, at("2026-11-21T00:00")), std::nullopt) << "their last samples come";
    const Period first{at("2026-11-20T00:00"), at("2026-11-21T00:00")};
    EXPECT_EQ(due(schedule, at("2026-11-21T00:01")), first);
    EXPECT_EQ(due(schedule, at("2026-11-23T00:01")), first) << "the oldest first";
    schedule.done_until = first.to;
    EXPECT_EQ(due(schedule, at("2026-11-21T00:01")), std::nullopt);
    EXPECT_EQ(due(schedule, at("2026-11-23T00:01"))->from, first.to);
}

TEST(Schedule, NoMoreAreMadeThanAreKept) {
    Schedule schedule = every(Every::day, 0, "2026-01-01T12:00");
    schedule.keep = 3;
    EXPECT_EQ(due(schedule, at("2026-11-20T12:00")),
              (Period{at("2026-11-17T00:00"), at("2026-11-18T00:00")}));
}

TEST(Schedule, TimesOfDayAreReadStrictly) {
    EXPECT_EQ(minute_of("06:30"), 390);
    EXPECT_EQ(minute_of("23:59"), 1439);
    for (const char* text : {"", "6:30", "24:00", "12:60", "12-30", "ab:cd", "06:300"})
        EXPECT_EQ(minute_of(text), std::nullopt) << text;
    EXPECT_EQ(minute_text(390), "06:30");
}

}  // namespace

}  // namespace hostler::report

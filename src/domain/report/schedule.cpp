#include "domain/report/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/result.h"

namespace hostler::report {

namespace {

using std::chrono::days;
using std::chrono::sys_days;
using Moment = std::chrono::sys_time<std::chrono::microseconds>;

std::chrono::minutes offset(const Schedule& schedule) { return std::chrono::minutes{schedule.at_minute}; }

// The first day of the period in which `day` lies.
sys_days first_day(Every every, sys_days day) {
    switch (every) {
        case Every::day: return day;
        case Every::week: return day - (std::chrono::weekday{day} - std::chrono::Monday);
        case Every::month: {
            const std::chrono::year_month_day date{day};
            return date.year() / date.month() / 1;
        }
    }
    broken("a period outside its enum", __FILE__, __LINE__);
}

}  // namespace

std::string schedule_id(const std::string& tenant, const std::string& name) { return tenant + "/" + name; }

std::int64_t boundary_before(const Schedule& schedule, std::int64_t time) {
    const Moment moment{std::chrono::microseconds{time}};
    // As if days began at that minute.
    const auto day = std::chrono::floor<days>(moment - offset(schedule));
    const Moment boundary = first_day(schedule.every, day) + offset(schedule);
    return boundary.time_since_epoch().count();
}

std::int64_t boundary_after(const Schedule& schedule, std::int64_t boundary) {
    // From the first of a month 31 days on lie in the next one.
    const Moment moment{std::chrono::microseconds{boundary}};
    const days step = schedule.every == Every::day    ? days{1}
                      : schedule.every == Every::week ? days{7}
                                                      : days{31};
    return boundary_before(schedule, Moment{moment + step}.time_since_epoch().count());
}

std::optional<Period> due(const Schedule& schedule, std::int64_t now) {
    const std::int64_t last = boundary_before(schedule, now - settle_s * 1'000'000);
    if (last <= schedule.done_until) return std::nullopt;
    std::int64_t from = schedule.done_until;
    std::int64_t missing = 0;
    for (std::int64_t at = from; at < last; at = boundary_after(schedule, at)) ++missing;
    for (; missing > schedule.keep; --missing) from = boundary_after(schedule, from);
    return Period{.from = from, .to = boundary_after(schedule, from)};
}

std::optional<std::int64_t> minute_of(const std::string& text) {
    const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4))
        return std::nullopt;
    const int hour = (text[0] - '0') * 10 + text[1] - '0', minute = (text[3] - '0') * 10 + text[4] - '0';
    if (hour > 23 || minute > 59) return std::nullopt;
    return hour * 60 + minute;
}

std::string minute_text(std::int64_t minute) { return fmt::format("{:02}:{:02}", minute / 60, minute % 60); }

}  // namespace hostler::report

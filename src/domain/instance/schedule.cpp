#include "domain/instance/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

namespace {

constexpr std::int64_t second = 1'000'000;

}  // namespace

std::optional<NextStop> next_stop(const StopSchedule& schedule, const RunFacts& facts,
                                  const StopManners& manners) {
    std::optional<NextStop> first;
    const auto consider = [&](StopRule rule, std::int64_t at, std::int64_t notice_s) {
        at = std::max(at, schedule.kept_until);
        if (!first || at < first->at) first = NextStop{rule, at, at - notice_s * second};
    };
    const auto notice_of = [&](std::int64_t time_s) { return std::min(manners.notice_s, time_s / 4); };
    if (schedule.inactivity_s > 0 && facts.ran_since > 0 && facts.unused_since) {
        const std::int64_t grace_s = std::min(manners.grace_s, schedule.inactivity_s);
        consider(StopRule::inactivity,
                 std::max(*facts.unused_since + schedule.inactivity_s * second,
                          facts.reachable_since + grace_s * second),
                 notice_of(schedule.inactivity_s));
    }
    if (schedule.max_run_s > 0 && facts.ran_since > 0)
        consider(StopRule::max_run, facts.ran_since + schedule.max_run_s * second,
                 notice_of(schedule.max_run_s));
    if (schedule.stop_at > 0) consider(StopRule::stop_at, schedule.stop_at, manners.notice_s);
    return first;
}

std::string short_time(std::int64_t seconds) {
    struct Part {
        std::int64_t size;
        char letter;
    };
    std::string text;
    int parts = 0;
    for (const Part& part : {Part{86400, 'd'}, Part{3600, 'h'}, Part{60, 'm'}, Part{1, 's'}}) {
        const std::int64_t count = seconds / part.size;
        if (count == 0 || parts == 2) continue;
        text += fmt::format("{}{}{}", parts > 0 ? " " : "", count, part.letter);
        seconds -= count * part.size;
        ++parts;
    }
    return text.empty() ? "0s" : text;
}

std::string reason_of(StopRule rule, const StopSchedule& schedule) {
    switch (rule) {
        case StopRule::inactivity:
            return fmt::format("it was unused for {}", short_time(schedule.inactivity_s));
        case StopRule::max_run: return fmt::format("it has run for {}", short_time(schedule.max_run_s));
        case StopRule::stop_at: return "its time to stop has come";
    }
    return {};
}

}  // namespace hostler

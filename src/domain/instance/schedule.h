// When an instance is stopped by itself, and why: what its owner said, what its host sees of its use, the
// time.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace hostler {

// All times are microseconds since 1970; 0: none.

// What its owner said. Each of them stops it; it can be changed at any time.
struct StopSchedule {
    std::int64_t inactivity_s = 0;  // Nobody has used it for so long. 0..stop_after_max_s; 0: never.
    std::int64_t max_run_s = 0;     // It has run for so long. Likewise.
    std::int64_t stop_at = 0;
    std::int64_t kept_until = 0;  // Nothing stops it by itself before then.
    bool operator==(const StopSchedule&) const = default;
};
BOOST_DESCRIBE_STRUCT(StopSchedule, (), (inactivity_s, max_run_s, stop_at, kept_until))

inline constexpr std::int64_t stop_after_max_s = 366 * 24 * 3600;

enum class StopRule { inactivity, max_run, stop_at };
BOOST_DESCRIBE_ENUM(StopRule, inactivity, max_run, stop_at)

// What is known of its present run.
struct RunFacts {
    std::int64_t ran_since = 0;                // It was ready first.
    std::optional<std::int64_t> unused_since;  // nullopt: it is in use, or nobody can say.
    std::int64_t reachable_since = 0;  // Before then its people could not have used it, for our own fault.
};

// How its people are spared surprises.
struct StopManners {
    std::int64_t notice_s =
        900;  // They are told so long before, or a quarter of the rule's time if that is less.
    std::int64_t grace_s = 900;  // After an outage of ours it is not stopped for inactivity so soon.
};

struct NextStop {
    StopRule rule = StopRule::inactivity;
    std::int64_t at = 0;
    std::int64_t notice_at = 0;
    bool operator==(const NextStop&) const = default;
};

// The rule that stops it first; nullopt: as things are, none does.
std::optional<NextStop> next_stop(const StopSchedule& schedule, const RunFacts& facts,
                                  const StopManners& manners);

// "2h", "1h 30m", "45s".
std::string short_time(std::int64_t seconds);

// Why the rule stops it: "nobody has used it for 2h".
std::string reason_of(StopRule rule, const StopSchedule& schedule);

}  // namespace hostler

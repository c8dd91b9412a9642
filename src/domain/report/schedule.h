// When a report is due by itself, and the one that was made.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "domain/object.h"

namespace hostler::report {

// Weeks begin on Monday, months on their first day; all times are UTC.
enum class Every { day, week, month };
BOOST_DESCRIBE_ENUM(Every, day, week, month)

// Times are microseconds since 1970.
struct Schedule {
    std::string id;  // schedule_id()
    std::string name;
    std::string tenant;  // Whose it is, and of whose instances alone it tells; empty: the operator's.
    std::string by;      // As the API takes them.
    std::string where;
    Every every = Every::week;
    std::int64_t at_minute = 0;   // Of the day: where its periods begin and end. 0..1439.
    std::int64_t keep = 12;       // So many of its reports; the oldest make room. 1..keep_max.
    std::string receiver;         // An alert receiver of its owner's, by e-mail; empty: it is just kept.
    std::int64_t done_until = 0;  // End of the last period that has its report: a boundary.
    std::string error;            // Why the next one could not be made so far.
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Schedule, (),
                      (id, name, tenant, by, where, every, at_minute, keep, receiver, done_until, error,
                       created_at))

struct Kept {
    std::string id;        // "rp-…"
    std::string schedule;  // Its id.
    std::string name;      // That schedule's.
    std::string tenant;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t made_at = 0;
    std::string report;        // As the API writes it: JSON.
    std::string receiver;      // Is to be sent there; empty: nowhere, or it is no longer tried.
    std::int64_t sent_at = 0;  // 0: not yet.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Kept, (), (id, schedule, name, tenant, from, to, made_at, report, receiver, sent_at))

inline constexpr std::int64_t keep_max = 36;
inline constexpr std::size_t schedules_max = 50;         // Of all tenants and the operator,
inline constexpr std::size_t schedules_tenant_max = 10;  // and of one of them.
inline constexpr int kept_lines_max = 50;                // Of each section of a kept report.
inline constexpr std::int64_t settle_s = 60;             // Hosts' last reports may come so late.
inline constexpr std::int64_t give_up_s = 86'400;        // A period whose report fails for so long has none.

// Names are unique among one tenant's.
std::string schedule_id(const std::string& tenant, const std::string& name);

struct Period {
    std::int64_t from = 0;
    std::int64_t to = 0;
    bool operator==(const Period&) const = default;
};

// The last boundary at or before `time`, and the next one behind a boundary.
std::int64_t boundary_before(const Schedule& schedule, std::int64_t time);
std::int64_t boundary_after(const Schedule& schedule, std::int64_t boundary);

// The period whose report is to be made at `now`: the oldest without one, and of many as old as they are
// kept. nullopt: none.
std::optional<Period> due(const Schedule& schedule, std::int64_t now);

// "06:30" as minutes of a day; nullopt: it is none.
std::optional<std::int64_t> minute_of(const std::string& text);
std::string minute_text(std::int64_t minute);

}  // namespace hostler::report

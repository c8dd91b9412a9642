// How fast the way between a host and an access point is, as that access point has measured it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "domain/inventory/sample.h"

namespace hostler {

struct SpeedFigures {
    Metric round_trip_us;  // Median.
    Metric down_kbit_s;    // To the host,
    Metric up_kbit_s;      // and from it. One TCP connection.
    bool operator==(const SpeedFigures&) const = default;
};
BOOST_DESCRIBE_STRUCT(SpeedFigures, (), (round_trip_us, down_kbit_s, up_kbit_s))

// Times are microseconds since 1970, 0: never.
struct AccessSpeed {
    std::string access;
    SpeedFigures figures;          // As they were last measured,
    std::int64_t measured_at = 0;  // at this time.
    bool wanted = false;           // It is to be measured anew, by an operator's word.
    std::string failure;           // Why it could not be measured the last time; empty: it could.
    bool operator==(const AccessSpeed&) const = default;
};
BOOST_DESCRIBE_STRUCT(AccessSpeed, (), (access, figures, measured_at, wanted, failure))

// Of one host; the oldest go.
inline constexpr std::size_t access_speeds_max = 8;

// nullptr: nothing is known of the way to it.
const AccessSpeed* speed_to(const std::vector<AccessSpeed>& known, const std::string& access);
AccessSpeed& speed_row(std::vector<AccessSpeed>& known, const std::string& access);

// From when on it is to be measured again: `every_us` after the last time, a quarter sooner or later, each
// way by its own measure. 0: at once.
std::int64_t speed_due(const AccessSpeed* known, const std::string& host, std::int64_t every_us);

// With more traffic than this its link is in use, and is left alone: a twentieth of what was measured, and 8
// Mbit/s at least.
std::uint32_t busy_kbit_s(const AccessSpeed* known);

}  // namespace hostler

// Lines of a log that has the time of each line in front: "2026-11-21T11:40:29.000123Z hello".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/timers.h"

namespace hostler {

struct LogLine {
    WallTime time;
    std::string_view text;  // Behind the time and one blank, with its line break.
    bool operator==(const LogLine&) const = default;
};

// Views into `timed`. Lines before the first with a time are left out, since the beginning of such a text may
// be cut off; a later line without one has the time of the line before it.
std::vector<LogLine> log_lines(std::string_view timed);
std::string without_times(std::string_view timed);
std::string with_time(WallTime time, std::string_view line);

}  // namespace hostler

// What is kept of an ended instance's log: its lines with their times, behind a mark. Agents before 0.2 kept
// the lines alone.
#pragma once

#include <string>
#include <string_view>

#include "ports/logs.h"

namespace hostler::agent {

struct LogText {
    std::string text;
    bool timed = false;  // Each line has its time in front.
};

inline constexpr std::string_view kept_log_mark = "\x01hostler: lines with times\n";
inline constexpr std::size_t kept_log_max = LogStore::text_max - kept_log_mark.size();

std::string kept_log(std::string_view timed);
// The last `bytes_max` of what was kept, without the times unless they are wanted and there.
LogText read_kept(std::string kept, bool timed, std::size_t bytes_max);

}  // namespace hostler::agent

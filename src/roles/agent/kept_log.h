// What is kept of an ended instance's log: pieces (core/log_lines.h) behind a mark. Older agents kept lines.
#pragma once

#include <string>
#include <string_view>

#include "core/log_lines.h"
#include "ports/logs.h"

namespace hostler::agent {

inline constexpr std::size_t kept_log_max = LogStore::text_max - 64;  // Of its pieces; the mark is shorter.

std::string kept_log(const LogPart& log);
// What is wanted of what was kept.
LogPart read_kept(std::string_view kept, const LogsWanted& wanted);
// Where a reader stands who has read all that was kept.
LogPlace end_of_kept(std::string_view kept);

}  // namespace hostler::agent
